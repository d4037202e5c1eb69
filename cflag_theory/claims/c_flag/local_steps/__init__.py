"""C-FLAG, Lemmas 12 to 16: drift and error of the local steps."""
