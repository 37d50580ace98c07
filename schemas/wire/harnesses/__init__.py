"""What harnesses of benchmarks write around an agent: one module for each."""
