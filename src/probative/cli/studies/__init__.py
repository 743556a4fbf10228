"""The commands of ``probative study``, each in the module of its name."""
