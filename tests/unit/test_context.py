"""What a use case knows of its surroundings."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine.context import Context
from mcp_memory.model import Caller


def context() -> Context:
    store = cast("Any", None)  # nothing is read
    return Context(
        store=store, embedder=NoModel("none"), clock=lambda: datetime.now(UTC), new_id=lambda: "an id"
    )


def test_a_context_with_other_values_leaves_the_first_as_it_is() -> None:
    first = context()
    other = first.having(caller=Caller("team"), recording=False)
    assert (other.caller.space, other.recording) == ("team", False)
    assert (first.caller, first.recording) == (Caller(), True)
    assert other == first.having(recording=False, caller=Caller("team"))
    assert other.told is first.told, "hints are remembered for all contexts of a process"


def test_a_value_that_no_context_has_is_refused() -> None:
    with pytest.raises(TypeError, match="a context has no speed"):
        context().having(speed=3)
