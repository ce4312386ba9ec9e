"""Exactly-once execution of requests that a server may receive twice.

Each act is recorded under the request's key in its own transaction. If the server dies after the commit, the
record is there and the answer is lost. The retry then undoes the change and makes it again, which gives the
answer that the first attempt would have had. A change that others have built upon cannot be undone. Then the
request runs again without being allowed to change anything: creating what exists has an answer, and only a
request that would add something a second time is refused.
"""

from mcp_memory.engine.context import CallKey, Context, Topic
from mcp_memory.errors import Conflict, NotFound
from mcp_memory.storage import Transaction


class DoneBefore(Conflict):
    """The request was carried out, its answer was lost, and it cannot be undone."""


class _ChangesNothing(CallKey):
    """Stands for a request that was done before."""

    def note(self, tx: Transaction) -> None:
        raise DoneBefore(
            "this was done before, and its answer was lost when the server ended. It is not done again: "
            "look at what is there now"
        )


class ExactlyOnce(Topic):
    def __init__(self, context: Context, key: str) -> None:
        super().__init__(context if context.call is None else context.having(call=None))
        self._key = key

    def context(self) -> Context:
        """A context whose changes are recorded under the key."""
        return self._context.having(call=CallKey(self._key, self._context.new_id()))

    def unchanging(self) -> Context:
        """A context in which a change raises `DoneBefore`."""
        return self._context.having(call=_ChangesNothing(self._key, ""))

    def was_done(self) -> bool:
        with self._context.reading() as tx:
            return tx.access.answered(self._key) is not None

    def take_back(self) -> bool:
        """Undo the request's changes. False if others have built upon them."""
        if not self.was_done():
            return True
        try:
            self._revert()
        except (Conflict, NotFound):
            return False
        return True

    def _revert(self) -> None:
        with self._context.writing() as tx:
            done = tx.access.answered(self._key)
            if done is None:
                return
            for act in reversed(done.body["acts"]):
                tx.undo.revert(act)
            tx.access.remove_answered(self._key)
