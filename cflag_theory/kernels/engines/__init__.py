"""Engines: functions from a checked plan to its outputs."""
