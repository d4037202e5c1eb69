"""What is forgotten: along rounds, with adaptive rates, along sequences of tasks."""
