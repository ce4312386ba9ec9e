"""JSON put together from columns is the same as that of each value."""

from typing import Any

from mcp_memory.storage.json_text import compact_encoder, object_texts

TELLING = ["", "tea", 'a "quoted"\n\ttext \\ 100 %s', "naïve 日本語 🙂", "\u2028\x00\x7f"]


def test_objects_by_column_are_written_as_one_by_one() -> None:
    columns: dict[str, list[Any]] = {
        'a "name" of 5 %': TELLING,
        "numbers": [1, 2.5, -3, 10**20, 1e300],
        "mixed": ["text", None, True, 7, {"of": ["lists", {}]}],
        "lists": [[], ["x"], ("y", "z"), [{"b": 1}], {}],
    }
    objects = [dict(zip(columns, members, strict=True)) for members in zip(*columns.values(), strict=True)]
    assert object_texts(columns) == list(map(compact_encoder(), objects))


def test_no_objects() -> None:
    assert object_texts({"name": []}) == []
