"""A board of submissions that grows: score what is new, reuse the rest, write a site."""
