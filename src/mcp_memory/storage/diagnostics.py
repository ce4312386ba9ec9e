"""The findings of a diagnosis."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `advice` says what to do if it failed."""

    subject: str
    is_well: bool
    detail: str
    advice: str = ""
