"""The published experiment, and the same machinery for one's own data sets and methods."""
