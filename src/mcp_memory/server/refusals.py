"""The refusal of a request before it reaches a route."""

from starlette.exceptions import HTTPException


class Refusal(HTTPException):
    """A request that is not let in, with the status, the reason and headers of the answer."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, headers)
