"""The findings of a diagnosis."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One checked subject; `advice` says what to do if it is not well."""

    subject: str
    is_well: bool
    detail: str
    advice: str = ""
