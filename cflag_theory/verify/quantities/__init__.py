"""What each symbol of the claims is along a round: a table a kind of witness, read entry by entry on request."""
