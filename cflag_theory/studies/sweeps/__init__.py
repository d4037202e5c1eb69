"""A grid of runs from one file, resumed where it stopped."""
