"""C-FLAG, Lemmas 4 and 18: bounds on the forgetting term."""
