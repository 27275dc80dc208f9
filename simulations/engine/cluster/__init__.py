"""The API server: objects, watches, admission, deletion; and what calls to it cost."""
