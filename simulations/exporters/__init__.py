"""A run, to files for other programs. Pure: rows in, text out."""
