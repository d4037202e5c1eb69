"""What people type: a module a command, and what the commands share."""
