"""What an examination of a database found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` says what to do if it is not well."""

    subject: str
    is_well: bool
    detail: str
    advice: str = ""
