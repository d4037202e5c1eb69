"""Rounds, whole runs, processes and checkpoints."""
