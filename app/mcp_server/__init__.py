"""`tachograph mcp`: the store as tools of an agent, by the Model Context Protocol (https://modelcontextprotocol.io) over stdio.

`tools` is the list of them, `replies` bounds and marks what they answer, `server` speaks the protocol and alone needs its SDK.
"""
