"""Claude Code's result records. `reader` turns one into rows; `outcome` says how the run ended."""
