"""What a claim and a proof are, and who checks a proof."""
