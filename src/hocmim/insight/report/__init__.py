"""A report on a selection: one HTML file with what was selected, what was not, and why."""
