"""Readers for other programs' memories: each turns a file or folder into records of our own archive.

A record is a line of a full export (`engine.archiving`). So an importer only has to name things in our words;
duplicates, times and undo are the archive's work.
"""

from mcp_memory.engine.importers.detection import FOREIGN, Importer, archive_lines, detect, named

__all__ = ["FOREIGN", "Importer", "archive_lines", "detect", "named"]
