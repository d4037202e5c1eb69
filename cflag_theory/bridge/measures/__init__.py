"""What a run measures: accuracies, round numbers, Traces, results."""
