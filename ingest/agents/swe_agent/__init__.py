"""SWE-agent and mini-swe-agent: one trajectory per run."""
