"""Digests of rows are kept in journals: they must stay what they were when an act is undone years later."""

import hashlib
import json
from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.storage.rows import digest, digests, has_state
from mcp_memory.storage.schema import TABLE
from mcp_memory.text.fingerprint import fingerprint, long_fingerprints

AT = datetime(2026, 1, 1, 12, 30, 1, 5, tzinfo=UTC)

ROW: dict[str, Any] = {
    "seq": 5, "space_id": 1, "content": 'hällo "x" \n 😀 100 %s', "tags": ["a", "b"], "confidence": 1.0,
    "importance": 0.5, "metadata": {"z": 1, "a": [1, 2.5, None, True]}, "pinned_at": AT, "flagged_at": None,
    "version": 1, "provenance": {},
}  # fmt: skip


def levelled(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: levelled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [levelled(inner) for inner in value]
    return float(value) if isinstance(value, int | float) and abs(value) < 2**1023 else value


@pytest.mark.parametrize("metadata", [{}, {"n": 2**53}, {"n": -(10**16)}, {"n": 10**400}, {"t": True}])
@pytest.mark.parametrize("seq", [0, -1, 2**53 - 1, 2**53, 10**16])
def test_a_digest_is_that_of_the_sorted_json_of_the_steady_columns(metadata: Any, seq: int) -> None:
    row = {**ROW, "metadata": metadata, "seq": seq}
    found = digest("memory", {**row, "content_hash": fingerprint(row["content"])})
    assert found == b64encode(hashed(row)).decode().rstrip("=")
    assert has_state("memory", {**row, "content_hash": b"of no account"}, found)
    assert not has_state("memory", {**row, "version": 2}, found)


def hashed(row: dict[str, Any]) -> bytes:
    steady = {key: levelled(value) for key, value in row.items() if key not in TABLE["memory"].volatile}
    return hashlib.blake2b(json.dumps(steady, sort_keys=True).encode(), digest_size=8).digest()


@pytest.mark.parametrize("whole", long_fingerprints(ROW["content"]))
def test_a_digest_of_an_earlier_release_covers_the_whole_hash_of_the_content(whole: str) -> None:
    former = hashed({**ROW, "content_hash": whole}).hex()
    row = {**ROW, "content_hash": bytes.fromhex(whole)[:16]}
    assert has_state("memory", row, former)
    assert not has_state("memory", {**row, "content": "another"}, former)


def test_a_row_that_does_not_exist_has_a_state_of_its_own() -> None:
    assert has_state("memory", None, None)
    assert not has_state("memory", None, digest("memory", ROW))
    assert not has_state("memory", ROW, None)


def test_a_digest_does_not_depend_on_the_order_of_columns_or_of_keys() -> None:
    turned = dict(reversed(ROW.items())) | {"metadata": {"a": [1, 2.5, None, True], "z": 1}}
    assert digest("memory", turned) == digest("memory", ROW)


VALUES = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(st.text(max_size=3), max_size=3),
)


@given(st.lists(VALUES, min_size=1, max_size=6), st.booleans())
def test_digests_of_many_rows_are_those_of_each(contents: list[Any], numbered: bool) -> None:
    rows = [{**ROW, "content": content, "seq": place * numbered} for place, content in enumerate(contents)]
    expected = [digest("memory", row) for row in rows]
    assert digests("memory", {column: [row[column] for row in rows] for column in ROW}) == expected
    own = {column: [row[column] for row in rows] for column in ("content", "seq")}
    assert digests("memory", own, ROW) == expected
