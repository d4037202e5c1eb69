"""The command line: commands, tables and the report."""
