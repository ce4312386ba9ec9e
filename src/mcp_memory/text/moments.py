"""Times as people write them: `2026-03-08`, `yesterday`, `2 weeks ago`, `3d`, `last monday`."""

import re
from datetime import datetime, timedelta

from mcp_memory.errors import Invalid

_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_SHORT = {"min": "minute", "h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}
_NAMED_DAYS = {"today": 0, "yesterday": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_AGO = re.compile(r"(?P<count>\d{1,5}|an?)\s*(?P<unit>[a-z]+?)s?\s+ago")
_BRIEF = re.compile(r"(?P<count>\d{1,5})\s*(?P<unit>min|[hdwmy])")
_LAST = re.compile(r"last\s+(?P<what>[a-z]+)")


def moment(text: str, now: datetime) -> datetime:
    """The parsed time, in the time zone of `now` unless it has its own. A day means its beginning."""
    wanted = " ".join(text.lower().split())
    try:
        found = _named(wanted, now) or _ago(wanted, now) or _last(wanted, now)
        if found is not None:
            return found
        read = datetime.fromisoformat(text.strip())
        return read if read.tzinfo else read.replace(tzinfo=now.tzinfo)
    except (ValueError, OverflowError, OSError):
        raise Invalid(
            f"{text!r} is not a time: write 2026-03-08, 2026-03-08T12:00, yesterday, 2 weeks ago or 3d"
        ) from None


def _named(text: str, now: datetime) -> datetime | None:
    if text == "now":
        return now
    if text in _NAMED_DAYS:
        return _midnight(now) - timedelta(days=_NAMED_DAYS[text])
    return None


def _ago(text: str, now: datetime) -> datetime | None:
    found = _AGO.fullmatch(text) or _BRIEF.fullmatch(text)
    if found is None:
        return None
    unit = _SHORT.get(found["unit"], found["unit"])
    if unit not in _UNITS:
        return None
    count = 1 if found["count"].startswith("a") else int(found["count"])
    return now - count * _UNITS[unit]


def _last(text: str, now: datetime) -> datetime | None:
    """`last week` is seven days ago; `last monday`, or `monday`, the latest one that has ended."""
    found = _LAST.fullmatch(text)
    what = found["what"] if found else text
    if found and what in _UNITS:
        return now - _UNITS[what]
    if what not in _WEEKDAYS:
        return None
    days = (now.weekday() - _WEEKDAYS.index(what)) % 7 or 7
    return _midnight(now) - timedelta(days=days)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
