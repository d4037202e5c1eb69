"""Exact worst cases of the local steps and rounds: recursions, attaining instances, performance estimation."""
