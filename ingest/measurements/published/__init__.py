"""Results that benchmarks of coding agents publish: one file per benchmark."""
