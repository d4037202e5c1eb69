"""The methods of Sec. 7 for task-incremental learning, each an object that the round loop calls."""
