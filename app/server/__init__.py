"""The dashboard's server: who may reach it, who may sign in, and what may be uploaded."""
