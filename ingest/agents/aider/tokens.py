"""What Aider's token counts leave open."""

INCLUSIVE = "Aider does not tell cache reads and writes apart: uncached input includes them."
UNTOLD_START = "The log begins after the session did."
