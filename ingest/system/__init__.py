"""Safe use of the operating system: signals, file locks, temporary folders.

- `signals`: Ctrl-C, SIGTERM and SIGHUP, and how to delay them in critical sections
- `bounds`: processor time and memory that reading one source may take
- `file_locks`: locks that end with their process; `held_folder`: a temporary folder locked by its process
- `temporary`: the temporary folder of this process; `toml_files`: TOML written by people, with a bound on its size
"""
