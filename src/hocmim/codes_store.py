"""Codes in memory-mapped files of a folder, used again for the same data."""
