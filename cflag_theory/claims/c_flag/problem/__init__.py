"""C-FLAG, Sections 2 and 3: objective, assumptions, updates, the bias of the memory."""
