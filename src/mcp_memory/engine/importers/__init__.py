"""Readers for other programs' memories: each turns a file or folder into records of our own archive.

A record is a line of a full export (`engine.archiving`). So an importer only maps names and fields;
the archive handles duplicates, times and undo.
"""

from mcp_memory.engine.importers.detection import FOREIGN, Importer, archive_lines, detect, named

__all__ = ["FOREIGN", "Importer", "archive_lines", "detect", "named"]
