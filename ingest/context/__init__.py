"""What is known about a record from around it: the events of its stream, its path, the files beside it, the labels given."""
