"""Named bytes: files and folders, pipes, archives, uploads; decompressed, with bounds on their size.

- `files`: a source and its bytes; `walking`: files and folders; `pipes`: pipes and standard input; `archives`: members of zip and tar
- `decoding`: decompression and character encodings, with an allowance; `portions`: big files, split to be read in parallel
- `identity`: the hash of exactly the bytes that were read; `file_kinds`: the kind of a file that is no log
"""
