"""What the operating system gives us, made safe: signals, file locks, folders of our own.

- `signals`: Ctrl-C, SIGTERM and SIGHUP, told apart and put off while something must not be half done
- `file_locks`: locks that end with their process; `held_folder`: a folder that one process holds
- `temporary`: the temporary folder of this process; `toml_files`: TOML that people write, read with a bound
"""
