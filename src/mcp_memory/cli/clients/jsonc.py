"""Edits single entries of a JSON file with comments, and preserves everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_memory.errors import Invalid

_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")

_COMMENT = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)")
_COMMA_AND_COMMENT = re.compile(r",([ \t]*(?://[^\n]*|/\*[^\n]*?\*/))\s*$")

Test = Callable[[Any], bool]


@dataclass(slots=True)
class JsonNode:
    """A value in the text, from `start` up to, but without, `end`."""

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, JsonNode] = field(default_factory=dict)
    """Of an object."""
    key_starts: dict[str, int] = field(default_factory=dict)
    items: list[JsonNode] = field(default_factory=list)
    """Of a list."""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def parse(self) -> JsonNode:
        node = self._value()
        self._skip()
        if self.at != len(self.text):
            raise self._wrong()
        return node

    def _skip(self) -> None:
        found = _SKIPPED.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _value(self) -> JsonNode:
        self._skip()
        opening = self.text[self.at : self.at + 1]
        if opening == "{":
            return self._object()
        if opening == "[":
            return self._list()
        found = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
        if not found:
            raise self._wrong()
        self.at = found.end()
        return JsonNode(found.start(), found.end(), json.loads(found[0]))

    def _object(self) -> JsonNode:
        node = JsonNode(self.at, value={})
        for _ in self._parts("}"):
            key = _STRING.match(self.text, self.at)
            if not key:
                raise self._wrong()
            self.at = key.end()
            self._skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self._wrong()
            self.at += 1
            name, value = json.loads(key[0]), self._value()
            node.members[name], node.key_starts[name] = value, key.start()
            node.value[name] = value.value
        node.end = self.at
        return node

    def _list(self) -> JsonNode:
        node = JsonNode(self.at)
        for _ in self._parts("]"):
            node.items.append(self._value())
        node.value = [item.value for item in node.items]
        node.end = self.at
        return node

    def _parts(self, closing: str) -> Iterator[None]:
        """Yields once before each part, and consumes separators and a trailing comma."""
        self.at += 1
        self._skip()
        while self.text[self.at : self.at + 1] != closing:
            yield
            self._skip()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self._skip()
            elif self.text[self.at : self.at + 1] != closing:
                raise self._wrong()
        self.at += 1

    def _wrong(self) -> Invalid:
        line = self.text.count("\n", 0, self.at) + 1
        return Invalid(f"line {line} is not JSON: repair the file first, or connect the client by hand")


def parsed(text: str) -> JsonNode:
    """Raises `Invalid`."""
    return _Parser(text if text.strip() else "{}").parse()


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with the member at the path set to the value; missing objects are created."""
    text = text if text.strip() else "{}\n"
    node = _object_at(parsed(text), [])
    for depth, name in enumerate(path):
        if name not in node.members:
            rest: Any = value
            for inner in reversed(path[depth + 1 :]):
                rest = {inner: rest}
            return _added(text, node, f"{json.dumps(name)}: {_dumped(rest, _indent_of(text, node))}")
        node = node.members[name]
        if depth < len(path) - 1:
            _object_at(node, path[: depth + 1])
    if node.value == value:
        return text
    return text[: node.start] + _dumped(value, _line_indent(text, node.start)) + text[node.end :]


def with_item(text: str, path: Sequence[str], value: Any, is_ours: Test) -> str:
    """The text with the value in the list at the path, replacing our earlier entry."""
    text = text if text.strip() else "{}\n"
    found = find(parsed(text), path)
    if found is None:
        return with_member(text, path, [value])
    if not isinstance(found.value, list):
        raise Invalid(f"{'.'.join(path)} is not a list: repair the file first, or connect the client by hand")
    ours = [item for item in found.items if is_ours(item.value)]
    if [item.value for item in ours] == [value]:
        return text
    if ours:
        text = without_items(text, path, is_ours, keep_list=True)
        found = find(parsed(text), path)
        assert found is not None
    return _added(text, found, _dumped(value, _indent_of(text, found)))


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without the member, and without objects that become empty."""
    while path:
        root = parsed(text)
        parent = find(root, path[:-1])
        if parent is None or path[-1] not in parent.members:
            return text
        text = _cut(text, parent, parent.key_starts[path[-1]], parent.members[path[-1]].end)
        left = find(parsed(text), path[:-1])
        path = path[:-1]
        if left is None or left.members or left.items:
            return text
    return text


def without_items(text: str, path: Sequence[str], is_ours: Test, *, keep_list: bool = False) -> str:
    """The text without our entries in a list, and without the list if it becomes empty."""
    while True:
        found = find(parsed(text), path)
        ours = [item for item in found.items if is_ours(item.value)] if found else []
        if found is None or not ours:
            break
        text = _cut(text, found, ours[0].start, ours[0].end)
    return without_member(text, path) if found and not found.items and not keep_list else text


def find(node: JsonNode, path: Sequence[str]) -> JsonNode | None:
    for name in path:
        if name not in node.members:
            return None
        node = node.members[name]
    return node


def _object_at(node: JsonNode, path: Sequence[str]) -> JsonNode:
    if not isinstance(node.value, dict):
        where = ".".join(path) or "the file"
        raise Invalid(f"{where} is not an object: repair the file first, or connect the client by hand")
    return node


def _added(text: str, node: JsonNode, part: str) -> str:
    """The text with one more part at the end of an object or a list."""
    indent = _indent_of(text, node)
    parts = [*node.members.values(), *node.items]
    if not parts:
        inside = text[node.start + 1 : node.end - 1].rstrip()
        close = _line_indent(text, node.start)
        return f"{text[: node.start + 1]}{inside}\n{indent}{part}\n{close}{text[node.end - 1 :]}"
    last = max(one.end for one in parts)
    comma = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*,", re.DOTALL).match(text, last)
    if comma:
        # A list with trailing commas keeps one. A comment behind it stays with its line.
        rest = re.compile(r",[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)?").match(text, comma.end() - 1)
        assert rest is not None
        return f"{text[: rest.end()]}\n{indent}{part},{text[rest.end() :]}"
    comment = _COMMENT.match(text, last)
    kept = comment[0] if comment else ""
    return f"{text[:last]},{kept}\n{indent}{part}{text[last + len(kept) :]}"


def _cut(text: str, parent: JsonNode, start: int, end: int) -> str:
    """The text without a part of an object or list, its comma and its line."""
    after = re.compile(r"\s*,[ \t]*").match(text, end)
    before = re.compile(r",\s*$").search(text, parent.start, start)
    if after:
        end = after.end()
    elif before:
        start = before.start()
    head, tail = text[:start], text[end:]
    if not after and not before and (commented := _COMMA_AND_COMMENT.search(head, parent.start)):
        head = f"{head[: commented.start()]}{commented[1]}"
    if tail.startswith("\n") and head.rstrip(" \t").endswith("\n"):
        head, tail = head.rstrip(" \t"), tail[1:]
    cut = head + tail
    # An object or list without parts is written as `{}` or `[]`.
    emptied = re.compile(r"\{\s*\}|\[\s*\]").match(cut, parent.start)
    return f"{cut[: parent.start]}{emptied[0][0]}{emptied[0][-1]}{cut[emptied.end() :]}" if emptied else cut


def _indent_of(text: str, node: JsonNode) -> str:
    """The indentation of the items of an object or list."""
    starts = [*node.key_starts.values(), *(item.start for item in node.items)]
    for start in starts:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if not line.strip():
            return line
    return _line_indent(text, node.start) + _step(text)


def _step(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")
