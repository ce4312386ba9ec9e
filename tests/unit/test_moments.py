"""Times as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from mcp_memory.errors import Invalid
from mcp_memory.text.moments import moment

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 3, 11, 15, 30, tzinfo=ZONE)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-03-08", datetime(2026, 3, 8, tzinfo=ZONE)),
        ("2026-03-08T12:00", datetime(2026, 3, 8, 12, tzinfo=ZONE)),
        ("2026-03-08T12:00Z", datetime(2026, 3, 8, 14, tzinfo=ZONE)),
        ("now", NOW),
        ("today", datetime(2026, 3, 11, tzinfo=ZONE)),
        ("Yesterday", datetime(2026, 3, 10, tzinfo=ZONE)),
        ("2 weeks ago", NOW - timedelta(days=14)),
        ("2  Days  ago", NOW - timedelta(days=2)),
        ("an hour ago", NOW - timedelta(hours=1)),
        ("a month ago", NOW - timedelta(days=30)),
        ("3d", NOW - timedelta(days=3)),
        ("90min", NOW - timedelta(minutes=90)),
        ("last week", NOW - timedelta(days=7)),
        ("last monday", datetime(2026, 3, 9, tzinfo=ZONE)),
        ("wednesday", datetime(2026, 3, 4, tzinfo=ZONE)),
    ],
)
def test_a_time_is_understood(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


@pytest.mark.parametrize(
    "text", ["", "soon", "2 lightyears ago", "99999 years ago", "2026-13-01", "last blue"]
)
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(Invalid, match="2 weeks ago"):
        moment(text, NOW)
