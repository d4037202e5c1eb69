"""Step sizes before training: conditions, predicted bounds, best rates, estimates."""
