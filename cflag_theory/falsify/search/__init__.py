"""The directed search for a counterexample, on floats and then exactly."""
