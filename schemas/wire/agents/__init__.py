"""What coding agents write: one module for each."""
