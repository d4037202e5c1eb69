"""The compiled engine for plain runs: batches of replicas that share the data."""
