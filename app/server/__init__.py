"""The dashboard's server: who may reach it (`access`), what is refused before the framework sees it (`guard`), and its two processes."""
