"""The settings of a bridge run, without torch."""
