"""Single entries of a JSON file with comments change, and nothing else does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.cli.clients import jsonc
from mcp_memory.errors import Invalid

TEXTS = [
    "{}",
    '{"a": 1}',
    '{\n  "a": 1\n}\n',
    '{\n  // one\n  "a": 1, // two\n  "b": [1, 2,], /* three */\n}\n',
    '{\n    "servers": {\n        "x": {"command": "y"} // mine\n    }\n}',
    '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
    '{"hooks": {"Stop": [{"command": "mine"}]}}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_in_and_taken_out_leaves_no_trace(text: str) -> None:
    def is_ours(value: object) -> bool:
        return "ours" in str(value)

    with_both = jsonc.with_item(
        jsonc.with_member(text, ["servers", "memory"], {"command": "ours"}),
        ["hooks", "Stop"],
        "ours",
        is_ours,
    )
    assert jsonc.parsed(with_both).value["servers"]["memory"] == {"command": "ours"}
    without = jsonc.without_items(with_both, ["hooks", "Stop"], is_ours)
    assert jsonc.without_member(without, ["servers", "memory"]) == text


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), values, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_it_reads_what_json_writes(value: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert jsonc.parsed(text).value == value
    changed = jsonc.with_member(text, ["new", "deep"], [1])
    if not isinstance(value.get("new"), dict) and "new" not in value:
        assert json.loads(changed) == {**value, "new": {"deep": [1]}}


@pytest.mark.parametrize("text", ["{", "[", '{"a" 1}', '{"a": }', "nonsense", "{} x", '{"a": [1 2]}'])
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(Invalid, match="line 1 is not JSON"):
        jsonc.with_member(text, ["a", "b"], 1)


def test_a_value_in_the_way_is_not_overwritten() -> None:
    with pytest.raises(Invalid, match="servers is not an object"):
        jsonc.with_member('{"servers": 1}', ["servers", "memory"], {})
