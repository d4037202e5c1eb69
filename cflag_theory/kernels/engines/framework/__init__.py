"""The compiled engine for runs of the CFL framework, one replica at a time."""
