"""The dashboard's server: who may reach it (`access`), what is refused before the framework (`guard`), and its two processes."""
