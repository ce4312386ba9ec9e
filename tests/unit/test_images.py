"""Images of rows as the journal keeps them."""

from mcp_memory.storage.json_text import JsonText, compact_encoder
from mcp_memory.storage.rows import Image, packed, packed_text, unpacked

NEW: Image = {"table": "memory", "key": 7, "before": None, "after": "c0ffee"}
CHANGED: Image = {
    "table": "memory", "key": 7, "before": {"seq": 7, "content": "x"}, "after": "da", "own": ["used"],
}  # fmt: skip
GONE: Image = {"table": "memory", "key": 7, "before": {"seq": 7, "content": "x"}, "after": None}


def test_an_image_of_a_new_row_is_kept_short() -> None:
    assert packed([NEW]) == [["memory", 7, "c0ffee"]]


def test_an_image_of_a_new_row_is_written_as_it_is_kept() -> None:
    assert packed_text([NEW]) == JsonText(compact_encoder()(packed([NEW])))
    for images in ([], [CHANGED], [GONE], [NEW, NEW], [{**NEW, "own": ["used"]}]):
        assert packed_text(images) == packed(images)


def test_images_of_new_rows_in_a_row_share_their_table_and_number() -> None:
    new = [{**NEW, "key": key, "after": f"{key:x}"} for key in (7, 8, 9, 11)]
    other: Image = {**NEW, "table": "entity", "key": 12}
    assert packed([*new, other, CHANGED, NEW]) == [
        ["memory", 7, "7", "8", "9"], ["memory", 11, "b"], ["entity", 12, "c0ffee"],
        CHANGED, ["memory", 7, "c0ffee"],
    ]  # fmt: skip
    assert unpacked(packed([*new, other, CHANGED, NEW])) == [*new, other, CHANGED, NEW]


def test_images_come_back_as_they_were() -> None:
    assert unpacked(packed([NEW, CHANGED, GONE])) == [NEW, CHANGED, GONE]


def test_images_of_earlier_releases_are_read() -> None:
    assert unpacked([NEW, CHANGED]) == [NEW, CHANGED]
