"""Reads as of an earlier moment.

The journal keeps an image of each row from before a change. A row as it was at a moment is the first image
taken after that moment, or the current row if there is none. Images last as long as a change can be undone
(`TRASH_DAYS`). Beyond that, memory versions and the times in rows are used: rows deleted since are missing,
and changes without a version show today's value.
"""
