"""What a search needs to go on after it was interrupted, in one file written atomically."""
