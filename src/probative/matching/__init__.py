"""Annotations to counts: tag schemes, spans, word segmentation, labels."""
