"""A folder of Markdown notes, such as an Obsidian vault: a note is an entity, a link a relation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mcp_memory.engine.importers.records import Record, entity, memory, moment, observation, relation
from mcp_memory.engine.importers.sample import Sample
from mcp_memory.errors import Invalid

SOURCE = "markdown"
LINK_TYPE = "links_to"
NOTE_TYPE = "note"
_SUFFIXES = (".md", ".markdown")
_LINK = re.compile(r"!?\[\[([^\]|#^]+)(?:[#^][^\]|]*)?(?:\|([^\]]*))?\]\]")
_TAG = re.compile(r"(?:^|\s)#([^\W\d][\w/-]*)")
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")


@dataclass
class _Note:
    name: str
    type: str
    at: datetime
    texts: list[str]
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def recognises(sample: Sample) -> bool:
    if sample.is_folder:
        return any(True for _ in _files(sample.path))
    return sample.path.suffix.lower() in _SUFFIXES


def records(sample: Sample) -> Iterator[Record]:
    """Memories first, then entities, then what connects them: the order in which an archive is read."""
    files = list(_files(sample.path)) if sample.is_folder else [sample.path]
    notes = [_note(file) for file in files]
    entities = {note.name: entity(note.name, at=note.at, type=note.type) for note in notes}
    linked: list[tuple[Record, Record]] = []
    for note in notes:
        for text in dict.fromkeys(note.texts):
            kept = memory(text, at=note.at, key=note.name, tags=note.tags, source=SOURCE, of_an_entity=True)
            linked.append((entities[note.name], kept))
            yield kept
    yield from entities.values()
    yield from (observation(about, kept) for about, kept in linked)
    for note in notes:
        for name in dict.fromkeys(note.links):
            if name in entities and name != note.name:
                yield relation(entities[note.name], entities[name], LINK_TYPE)


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.suffix.lower() in _SUFFIXES and file.is_file() and not hidden:
            yield file


def _note(file: Path) -> _Note:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read as text: {error}") from error
    front = _FRONT.match(text)
    body = text[front.end() :] if front else text
    given = _front_matter(front[1] if front else "")
    changed_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    created = given.get("created") or given.get("date") or [""]
    return _Note(
        name=file.stem,
        type=(given.get("type") or [NOTE_TYPE])[0],
        at=moment(created[0], changed_at),
        texts=[_plain(block) for block in _blocks(body)],
        tags=[*given.get("tags", ()), *given.get("tag", ()), *_TAG.findall(_without_code(body))],
        links=[found.strip().rpartition("/")[2] for found, _ in _LINK.findall(body)],
    )


def _front_matter(text: str) -> dict[str, list[str]]:
    """The plain part of YAML that notes use: `key: value`, `key: [a, b]` and lists of `- item`."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in text.splitlines():
        if item := re.match(r"^\s*-\s+(.+)$", line):
            found.setdefault(key, []).append(_unquoted(item[1]))
        elif pair := re.match(r"^([\w-]+):\s*(.*)$", line):
            key, value = pair[1].lower(), pair[2].strip()
            items = value[1:-1].split(",") if value.startswith("[") else [value]
            found[key] = [_unquoted(one) for one in items if one.strip()]
    return found


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'").removeprefix("#")


def _blocks(body: str) -> Iterator[str]:
    """Paragraphs, list items and whole code blocks. Headings only divide."""
    block: list[str] = []
    fence = ""
    for line in [*body.splitlines(), ""]:
        marker = _FENCE.match(line)
        if fence or marker:
            block.append(line)
            fence = "" if fence and marker and marker[1] == fence else fence or (marker[1] if marker else "")
            continue
        divides = not line.strip() or (line.startswith("#") and line.lstrip("#").startswith(" "))
        if (divides or _ITEM.match(line)) and block:
            yield "\n".join(block)
            block = []
        if not divides:
            block.append(_ITEM.sub("", line))
    if block:
        yield "\n".join(block)


def _plain(block: str) -> str:
    """Links as the reader sees them."""
    return _LINK.sub(lambda found: found[2] or found[1], block).strip()


def _without_code(body: str) -> str:
    return re.sub(r"(```|~~~).*?\1|`[^`]*`", "", body, flags=re.DOTALL)
