"""What we prove instead."""
