"""The refusal of a request before it reaches a route."""

from starlette.exceptions import HTTPException


class Refusal(HTTPException):
    """A rejected request, with the status, reason and headers of the response."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, headers)
