"""Filters on runs: their SQL, their words on the command line and in addresses."""
