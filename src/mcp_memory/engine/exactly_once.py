"""A request that is received twice, and changes things once.

The acts that did a request are noted with its key in their own transaction. A server that dies after the
commit leaves the note, but nobody has the answer. Then the change is taken back and made again: what comes
of it is what would have come of it before, and the answer tells it.
"""

from dataclasses import replace

from mcp_memory.engine.context import Call, Context, Topic
from mcp_memory.errors import Conflict, NotFound


class ExactlyOnce(Topic):
    def __init__(self, context: Context, key: str) -> None:
        super().__init__(replace(context, call=None))
        self._key = key

    def context(self) -> Context:
        """To act in; what is changed is noted with the key."""
        return replace(self._context, call=Call(self._key, self._context.new_id()))

    def was_done(self) -> bool:
        with self._context.reading() as tx:
            return tx.access.answered(self._key) is not None

    def take_back(self) -> None:
        """Make as if the request had never been received. `Conflict` if that can no longer be."""
        if not self.was_done():
            return
        with self._context.writing() as tx:
            done = tx.access.answered(self._key)
            if done is None:
                return
            for act in reversed(done.body["acts"]):
                try:
                    tx.undo.revert(act)
                except (Conflict, NotFound) as error:
                    raise Conflict(
                        f"this was done before, as change {act}; its answer was lost, and it has been "
                        "built upon since. It is not done again: look at what is there now."
                    ) from error
            tx.access.remove_answered(self._key)
