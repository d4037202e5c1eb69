"""What describes a bridge run, without torch."""
