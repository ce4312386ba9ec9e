"""Values that are made of rows are those that their constructors make."""

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from mcp_memory.storage.row_values import reader_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Boat:
    name: str
    ports: tuple[str, ...]
    length: float | None = None


ROW = {"seq": 7, "length": 4.5, "name": "Alba", "ports": ["Vigo", "Cork"]}
read = reader_of(Boat, ports=tuple)


def test_a_value_of_a_row_is_the_one_that_its_constructor_makes() -> None:
    made = read(ROW)
    assert made == Boat(name="Alba", ports=("Vigo", "Cork"), length=4.5)
    assert type(made) is Boat
    assert hash(made) == hash(Boat(name="Alba", ports=("Vigo", "Cork"), length=4.5))
    assert replace(made, name="Bela").name == "Bela"
    assert ROW["ports"] == ["Vigo", "Cork"]


def test_a_value_of_a_row_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        read(ROW).name = "Bela"  # type: ignore[misc]


def test_a_row_without_a_field_is_refused() -> None:
    with pytest.raises(KeyError, match="length"):
        read({"name": "Alba", "ports": []})
