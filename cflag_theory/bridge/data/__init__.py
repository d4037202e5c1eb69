"""Images with labels from files, and how they become streams of tasks for clients."""
