"""Commands that fill a file of their own. `app.cli` adds them; nothing heavy is imported before one runs."""
