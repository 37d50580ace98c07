"""Bytes → documents: the JSON objects of a source, found by content and in bounded memory.

- `contents`: the documents of one source, and the reasons for what could not be read; `document`: one JSON object as found
- `scanner`: JSON objects in text; `byte_window`: a moving window over a stream; `nested_records`: records inside other objects
- `log_wrappers`: logs of Docker, journald and Kubernetes, unwrapped to the lines they were given
- `broken_json`: repair of objects with log text inside, and the reason why any other object is broken
- `times`: points in time as logs write them
"""
