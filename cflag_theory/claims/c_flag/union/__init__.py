"""C-FLAG, Lemma 3: rounds on memory and current data together."""
