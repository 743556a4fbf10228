"""Turn annotations into counts: tag schemes, spans, word segmentation, labels."""
