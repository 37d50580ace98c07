"""Tools that time commands and functions."""
