"""Relations between columns: what they share, what can replace what, and what acts together."""
