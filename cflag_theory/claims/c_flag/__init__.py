"""The claims of the C-FLAG paper, in paper order."""
