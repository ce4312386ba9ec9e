"""Dates that a question or a memory names: `in May 2023`, `last summer`, `two weeks ago`, `el 7 de mayo`.

`moments` reads a whole text as one time; this finds periods inside a sentence. dateparser 1.5 does not
serve: it takes the verb in "what may Nora eat" for a month and "we" for a weekday, does not know
"last summer", and gives a moment where a period is meant.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

MOST_DATES = 2
"""A question with more dates is a log, a table or a schedule, and does not ask for one period."""


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` to `end`, exclusive."""

    start: date
    end: date

    def __contains__(self, day: date) -> bool:
        return self.start <= day < self.end

    def within(self, other: "Period") -> bool:
        return other.start <= self.start and self.end <= other.end


_MONTHS = (
    "january enero",
    "february febrero",
    "march marzo",
    "april abril",
    "may mayo",
    "june junio",
    "july julio",
    "august agosto",
    "september septiembre setiembre",
    "october octubre",
    "november noviembre",
    "december diciembre",
)
_SHORT_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_OF = {
    **{short: number for number, short in enumerate(_SHORT_MONTHS, start=1)},
    **{name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()},
    "sept": 9,
}
_SEASON_OF = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
    "primavera": 3,
    "verano": 6,
    "otoño": 9,
    "invierno": 12,
}
"""The first month of each season, on the northern hemisphere."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNIT_OF = {
    "day": "day",
    "week": "week",
    "month": "month",
    "year": "year",
    "día": "day",
    "dia": "day",
    "semana": "week",
    "mes": "month",
    "mese": "month",
    "año": "year",
}
_COUNT_OF = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple": 2,
    "three": 3,
    "few": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "un": 1,
    "una": 1,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "cinco": 5,
    "seis": 6,
    "siete": 7,
    "ocho": 8,
}
_STEP_OF = {
    "last": -1,
    "previous": -1,
    "pasado": -1,
    "pasada": -1,
    "this": 0,
    "este": 0,
    "esta": 0,
    "next": 1,
    "próximo": 1,
    "próxima": 1,
    "que viene": 1,
}
_NAMED_DAYS = {
    "day before yesterday": -2,
    "anteayer": -2,
    "yesterday": -1,
    "last night": -1,
    "ayer": -1,
    "anoche": -1,
    "today": 0,
    "this morning": 0,
    "tonight": 0,
    "hoy": 0,
    "tomorrow": 1,
}


def _any(words: "dict[str, int] | dict[str, str] | tuple[str, ...] | list[str]") -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_NAMES = _any([name for names in _MONTHS for name in names.split()])
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d|[.,:/-]\d)"
_NOT_COUNTED = r"(?!\s+(?!(?:was|is|does|has|as|his|this|us)\b)(?:[a-z]+s|people)\b)"
"""No plural follows: "May 7 people" and "in 2000 patients" are not dates."""
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{_any(_COUNT_OF)})(?:\s+of)?"
_UNIT = rf"(?P<unit>{_any(_UNIT_OF)})s?"

Found = Callable[[re.Match[str], date], Period]


def _number(found: re.Match[str], name: str) -> int | None:
    text = found.groupdict().get(name)
    return int(text) if text else None


def _days(start: date, count: int = 1) -> Period:
    return Period(start, start + timedelta(days=count))


def _months(year: int, month: int, count: int = 1) -> Period:
    """Whole months; a month below 1 or above 12 is one of the years around."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    return Period(date(first // 12, first % 12 + 1, 1), date(last // 12, last % 12 + 1, 1))


def _year(found: re.Match[str], today: date) -> Period:
    return _months(int(found["year"]), 1, 12)


def _iso(found: re.Match[str], today: date) -> Period:
    return _days(date(int(found["year"]), int(found["month"]), int(found["day"])))


def _day_of_month(found: re.Match[str], today: date) -> Period:
    """Without a year, the one nearest to today that is not later than a month ahead."""
    month, day = _MONTH_OF[found["month"].lower()], int(found["day"])
    year = _number(found, "year")
    if year is None:
        year = today.year if date(today.year, month, 1) <= today + timedelta(days=31) else today.year - 1
    return _days(date(year, month, day))


def _month(found: re.Match[str], today: date) -> Period:
    """Without a year, the latest that has begun; `last May` is the latest that has ended."""
    month = _MONTH_OF[found["month"].lower()]
    return _recurring(found, today, month, 1)


def _month_to_month(found: re.Match[str], today: date) -> Period:
    first, last = _MONTH_OF[found["month"].lower()], _MONTH_OF[found["last"].lower()]
    return _recurring(found, today, first, (last - first) % 12 + 1)


def _season(found: re.Match[str], today: date) -> Period:
    return _recurring(found, today, _SEASON_OF[found["season"].lower()], 3)


def _recurring(found: re.Match[str], today: date, month: int, count: int) -> Period:
    year = _number(found, "year")
    if year is not None:
        return _months(year, month, count)
    step = _STEP_OF.get((found.groupdict().get("step") or "").lower(), 0)
    all_of_them = [_months(today.year + ahead, month, count) for ahead in (-2, -1, 0, 1)]
    if step > 0:
        return next(one for one in all_of_them if one.start > today)
    return [one for one in all_of_them if (one.end if step < 0 else one.start) <= today][-1]


def _named_day(found: re.Match[str], today: date) -> Period:
    return _days(today + timedelta(days=_NAMED_DAYS[" ".join(found["named"].lower().split())]))


def _weekday(found: re.Match[str], today: date) -> Period:
    back = (today.weekday() - _WEEKDAYS.index(found["weekday"].lower())) % 7 or 7
    return _days(today - timedelta(days=back))


def _stepped(found: re.Match[str], today: date) -> Period:
    """`last week`, `this month`, `el año pasado`: whole weeks, months and years of the calendar."""
    return _around(today, _UNIT_OF[found["unit"].lower()], _STEP_OF[found["step"].lower()])


def _around(today: date, unit: str, step: int) -> Period:
    if unit == "day":
        return _days(today + timedelta(days=step))
    if unit == "week":
        return _days(today + timedelta(days=7 * step - today.weekday()), 7)
    return _months(today.year, today.month + step) if unit == "month" else _months(today.year + step, 1, 12)


def _ago(found: re.Match[str], today: date) -> Period:
    """A day exactly; `two weeks ago` is a week around that day; months and years are whole ones."""
    unit, count = _UNIT_OF[found["unit"].lower()], _counted(found)
    if unit == "week":
        return _days(today - timedelta(days=7 * count + 3), 7)
    return _around(today, unit, -count)


def _recent(found: re.Match[str], today: date) -> Period:
    """`in the past two weeks`: up to today."""
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[_UNIT_OF[found["unit"].lower()]]
    start = today - timedelta(days=length * (_counted(found) if found["count"] else 1))
    return Period(start, today + timedelta(days=1))


def _counted(found: re.Match[str]) -> int:
    count = found["count"].lower()
    return int(count) if count.isdigit() else _COUNT_OF[count]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){text}(?![\w-])", re.IGNORECASE)


_MONTH_NAME = rf"(?P<month>{_any(_MONTH_OF)})\b\.?"
_OF = r",?\s+(?:of\s+|del?\s+)?"
_THE = r"(?:the\s+|la\s+|el\s+)?"
_DURING = r"(?:in|during|throughout|since|until|early|late|mid|en|durante|desde|hasta)"
_STEP = r"(?P<step>last|previous|this|next)"
_STEP_AFTER = r"(?P<step>pasad[oa]|que\s+viene)"

_RULES: tuple[tuple[re.Pattern[str], Found], ...] = (
    (_pattern(r"(?P<year>(?:19|20)\d\d)[-/](?P<month>0?[1-9]|1[0-2])[-/](?P<day>\d\d?)(?:T[\d:.]+Z?)?"),
     _iso),
    (_pattern(rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH_NAME}(?:{_OF}{_YEAR})?{_NOT_COUNTED}"), _day_of_month),
    (_pattern(rf"{_MONTH_NAME}\s+(?:the\s+)?{_DAY}(?:,?\s+{_YEAR})?{_NOT_COUNTED}"), _day_of_month),
    (_pattern(rf"(?:between|from|entre|desde|de)\s+(?P<month>{_NAMES})\s+(?:and|to|until|y|a|hasta)\s+"
              rf"(?P<last>{_NAMES})(?:{_OF}{_YEAR})?"), _month_to_month),
    (_pattern(rf"(?:mid-)?{_MONTH_NAME}{_OF}{_YEAR}"), _month),
    (_pattern(rf"(?P<season>{_any(_SEASON_OF)}){_OF}{_YEAR}"), _season),
    (_pattern(rf"{_STEP}\s+(?P<month>{_NAMES})"), _month),
    (_pattern(rf"(?P<month>{_NAMES})\s+(?P<step>pasado)"), _month),
    (_pattern(rf"{_DURING}[\s-]+(?:early\s+|late\s+|mid-?)?(?P<month>{_NAMES})(?!\s+\d)"), _month),
    (_pattern(rf"{_STEP}\s+(?P<season>{_any(_SEASON_OF)})"), _season),
    (_pattern(rf"(?P<season>{_any(_SEASON_OF)})\s+{_STEP_AFTER}"), _season),
    (_pattern(rf"(?:in|during|over|en|durante)\s+{_THE}(?P<season>summer|winter|autumn|verano|invierno|otoño)"),
     _season),
    (_pattern(rf"(?P<named>{_any(_NAMED_DAYS).replace(' ', chr(92) + 's+')})"), _named_day),
    (_pattern(rf"last\s+(?P<weekday>{_any(_WEEKDAYS)})"), _weekday),
    (_pattern(rf"(?:{_COUNT}\s+){_UNIT}\s+ago"), _ago),
    (_pattern(rf"hace\s+{_COUNT}\s+{_UNIT}"), _ago),
    (_pattern(rf"(?:the|in)\s+(?:last|past)\s+(?:{_COUNT}\s+)(?P<unit>{_any(_UNIT_OF)})s?"), _recent),
    (_pattern(rf"(?:the\s+)?past\s+(?:(?P<count>)){_UNIT}"), _recent),
    (_pattern(rf"{_STEP}\s+(?P<unit>week|month|year)"), _stepped),
    (_pattern(r"(?P<unit>semana|mes|año)\s+(?P<step>pasad[oa])"), _stepped),
    (_pattern(r"(?P<step>est[ea])\s+(?P<unit>semana|mes|año)"), _stepped),
    (_pattern(rf"(?:in|during|since|until|of|year|en|durante|desde|año)\s+(?:the\s+year\s+)?{_YEAR}{_NOT_COUNTED}"),
     _year),
)  # fmt: skip
"""Rules from most to least exact; each part of a text is matched once."""

_HINT = re.compile(
    rf"(?:19|20)\d\d|\b(?:{_any(_MONTH_OF)})\b|\b(?:{_any(_SEASON_OF)})\b|\b(?:{_any(_NAMED_DAYS)})\b"
    r"|\b(?:last|past|previous|this|next|hace|pasad[oa]|est[ea]|ago)\b",
    re.IGNORECASE,
)
_VERBS = frozenset({"may", "march", "mar", "dec", "jan"})
"""Other words than months when they are written small and no year follows."""
_SINCE = r"(?:since|after|desde|después\s+de)\b"
_BEFORE = r"(?:before|until|till|hasta|antes\s+de)\b"
_BETWEEN = re.compile(r"\b(?:between|from|entre|desde)\s", re.IGNORECASE)


def asked_for(text: str, now: datetime) -> tuple[Period, ...]:
    """The period that a question names; empty if it names none, or too many.

    `since May` goes on until now, `between May and July` covers what lies between them, and `before May`
    names no time to look for.
    """
    if _HINT.search(text) is None:
        return ()
    text, today = " ".join(text.split()), now.date()
    found = list(_found(text, today))
    periods = [one for at, one in found if not _follows(_BEFORE, text, at)]
    if len(periods) > MOST_DATES:
        return ()
    if len(periods) == MOST_DATES and _BETWEEN.search(text):
        return (Period(min(one.start for one in periods), max(one.end for one in periods)),)
    if len(found) == 1 and periods and _follows(_SINCE, text, found[0][0]):
        return (Period(periods[0].start, max(periods[0].end, today + timedelta(days=1))),)
    return tuple(periods)


def is_from(asked: Sequence[Period], text: str, said_on: date) -> bool:
    """Whether a memory was stored in the period, or names a date within it."""
    return any(said_on in one for one in asked) or any(
        named.within(one) for named in named_in(text, said_on) for one in asked
    )


@lru_cache(maxsize=4096)
def named_in(text: str, said_on: date) -> tuple[Period, ...]:
    """Every period that a text names; `yesterday` is relative to when it was said."""
    if _HINT.search(text) is None:
        return ()
    return tuple(one for _, one in _found(" ".join(text.split()), said_on))


def _follows(word: str, text: str, at: int) -> bool:
    """Whether what is written there begins with the word, or stands right after it."""
    before = re.search(rf"\b{word}\s+(?:the\s+|el\s+|la\s+)?$", text[max(0, at - 30) : at], re.IGNORECASE)
    return bool(before or re.match(word, text[at:], re.IGNORECASE))


def _found(text: str, today: date) -> Iterator[tuple[int, Period]]:
    """Periods in the order of the rules, each with the place where it is written."""
    for pattern, read in _RULES:
        for found in [one for one in pattern.finditer(text) if not _is_verb(one)]:
            text = text[: found.start()] + "\0" * len(found[0]) + text[found.end() :]
            try:
                yield found.start(), read(found, today)
            except (ValueError, OverflowError):  # 31 February
                continue


def _is_verb(found: re.Match[str]) -> bool:
    """`this may help`, `7 may come`, `march 5 miles`: small, and nothing says that a month is meant."""
    parts = found.groupdict()
    if parts.get("year") or parts.get("month") not in _VERBS or " of " in found[0]:
        return False
    return "day" in parts or parts.get("step") == "this"
