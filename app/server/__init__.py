"""The dashboard's server.

Who may reach it (`access`), what is refused before the framework (`guard`), and its two processes.
"""
