"""The compiled engine for plain runs: blocks of replicas that share the data."""
