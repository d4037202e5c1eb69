"""The same algorithm in other tools, and ours."""
