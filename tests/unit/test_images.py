"""Images of rows as the journal keeps them."""

from mcp_memory.storage.rows import Image, packed, unpacked

NEW: Image = {"table": "memory", "key": 7, "before": None, "after": "c0ffee"}
CHANGED: Image = {
    "table": "memory", "key": 7, "before": {"seq": 7, "content": "x"}, "after": "da", "own": ["used"],
}  # fmt: skip
GONE: Image = {"table": "memory", "key": 7, "before": {"seq": 7, "content": "x"}, "after": None}


def test_an_image_of_a_new_row_is_kept_short() -> None:
    assert packed([NEW]) == [["memory", 7, "c0ffee"]]


def test_images_come_back_as_they_were() -> None:
    assert unpacked(packed([NEW, CHANGED, GONE])) == [NEW, CHANGED, GONE]


def test_images_of_earlier_releases_are_read() -> None:
    assert unpacked([NEW, CHANGED]) == [NEW, CHANGED]
