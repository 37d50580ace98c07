"""Harbor and its forerunner terminal-bench: benchmarks that run other agents. Their runs bear the name of the agent."""
