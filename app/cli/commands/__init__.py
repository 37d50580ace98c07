"""Commands that fill a file of their own. `app.cli.main` adds them; nothing heavy is imported before one runs."""
