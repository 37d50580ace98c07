"""Runs beside other runs, and beside what they would have cost elsewhere."""
