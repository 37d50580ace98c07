"""Shared by several readers.

Disjoint token classes, open runs, texts, and which reported cost counts.
"""
