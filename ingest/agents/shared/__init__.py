"""What several readers need: tokens in disjoint classes, runs that are being read, texts, and which reported cost counts."""
