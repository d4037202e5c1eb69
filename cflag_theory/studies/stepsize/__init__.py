"""Step sizes before somebody trains: conditions, predicted bounds, best rates, estimates."""
