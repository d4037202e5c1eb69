"""Problems: two finite sums over clients as arrays, with their constants; families that make them; real data."""
