"""Filters that work on the table itself instead of on codes, one file each."""
