"""Comparisons group by group, and of several data sets: what they say together."""
