"""Claims with vectors, functions with declared properties and steps of an algorithm among their terms."""
