"""Safe use of the operating system.

- `signals`: Ctrl-C, SIGTERM and SIGHUP, and how to delay them; `bounds`: processor time and memory
  that reading one source may take
- `children`: processes in which a library reads a stranger's file, and that can be killed;
  `databases`: tables of SQLite, read in one
- `files`: locks that end with their process, temporary folders, the user's cache, TOML that people
  wrote
- `secrets`: passwords and keys, which are never shown; `command_lines`: commands that messages
  print; `defects`: errors nobody expected
"""
