"""The methods of Sec. 7 for task-incremental learning, each a small object that the one round loop drives."""
