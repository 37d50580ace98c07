"""Bytes → documents: the JSON objects that stand in a source, found by content and in bounded memory.

- `contents`: the documents of one source, and the reasons for what could not be read; `document`: one JSON object as found
- `scanner`: JSON objects in text; `byte_window`: a moving window over a stream; `nested_records`: records inside other objects
- `log_wrappers`: logs of Docker, journald and Kubernetes; `injected_text`, `injected_stream`: log prefixes inside a record
- `broken_json`: what is wrong with a broken object; `times`: points in time as logs write them
"""
