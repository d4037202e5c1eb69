"""How sharp the lemmas on local steps are: the study behind `cflag sharp`."""
