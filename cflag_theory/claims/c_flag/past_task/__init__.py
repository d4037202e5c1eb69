"""C-FLAG, Section 4: descent and rates on the past task."""
