"""The result of a run: its columns, its costs, its file."""
