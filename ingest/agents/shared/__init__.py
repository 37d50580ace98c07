"""Shared by several readers: disjoint token classes, open runs, texts, and which reported cost counts."""
