"""What sessions used along time: the parts that usage consists of, their sums, blocks of hours, and single sessions."""
