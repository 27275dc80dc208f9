"""Reads YAML and JSON safely: text in, documents out that know the line of each field.

Nothing here knows Kubernetes beyond `List`; see docs/error-codes.md, E01xx, for what is refused.
"""

from simulations.engine.documents.loading import (
    SUFFIXES,
    find_files,
    load_documents,
    load_paths,
    load_sources,
    parts_of,
    read_files,
)
from simulations.engine.documents.model import Document, Limits, join_path, split_path

__all__ = [
    "SUFFIXES",
    "Document",
    "Limits",
    "find_files",
    "join_path",
    "load_documents",
    "load_paths",
    "load_sources",
    "parts_of",
    "read_files",
    "split_path",
]
