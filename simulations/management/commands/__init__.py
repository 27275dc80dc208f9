"""One command a file; see interfaces for what each prints."""
