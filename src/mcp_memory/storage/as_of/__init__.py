"""Reads as of an earlier moment.

The journal keeps an image of each row from before a change. A row as it was at a moment is the first image
taken after that moment, or the current row if there is none. Images last as long as a change can be undone
(`TRASH_DAYS`). Beyond that, versions of memories and the times in rows tell what can still be told: only
what was deleted since, or changed without a version, is missing or as it is today.
"""
