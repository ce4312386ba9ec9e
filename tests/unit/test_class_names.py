"""A class name means one thing: it stands in one module, or there is a reason why in two."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import mcp_memory

pytestmark = pytest.mark.unit

SOURCE = Path(mcp_memory.__file__).parent
WIRE = ("server/shapes/", "server/rest/", "server/mcp/")
OUTSIDE = ("server/", "cli/", "thin/")

IN_SEVERAL: dict[str, str] = {}


@cache
def modules() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file.relative_to(SOURCE).as_posix())
    return {name: where for name, where in found.items() if len(set(where)) > 1}


def is_value_and_shape(where: list[str]) -> bool:
    """A value of the domain, and the one way in which it looks on the wire."""
    shapes = [module for module in where if module.startswith(WIRE)]
    return len(shapes) == 1 and len(where) == 2 and not all(one.startswith(OUTSIDE) for one in where)


def is_topic_and_part(where: list[str]) -> bool:
    """A topic of the engine, and the part of a transaction that it uses: modules of one name."""
    return {Path(module).parts[0] for module in where} == {"engine", "storage"} and (
        len({Path(module).name for module in where}) == 1
    )


def test_a_class_name_is_in_one_module_or_has_a_reason() -> None:
    undecided = {
        name: where
        for name, where in modules().items()
        if not is_value_and_shape(where) and not is_topic_and_part(where) and name not in IN_SEVERAL
    }
    assert not undecided, f"rename one of each, or say here why both need the name: {undecided}"


def test_every_reason_is_still_needed() -> None:
    assert not IN_SEVERAL.keys() - modules().keys()
