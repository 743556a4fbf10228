"""Models for tagging and word segmentation; some need an extra of their own."""
