"""Engines: they own the blocks of columns of a table, and find the best candidate of each step."""
