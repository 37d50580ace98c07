"""Tools that put a server or an inference engine under load: one file per tool."""
