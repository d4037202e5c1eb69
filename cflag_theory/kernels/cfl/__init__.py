"""What the CFL framework adds: drifts, windows, round weights, remembered objectives."""
