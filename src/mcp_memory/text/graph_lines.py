"""A knowledge graph as lines of JSON, the way Anthropic's memory server writes it."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

# One encoder for all: json.dumps would make a new one for each line.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class EntityLine:
    name: str
    type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationLine:
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class GraphLines:
    """The parsed file; unknown lines are kept as they are."""

    entities: tuple[EntityLine, ...] = ()
    relations: tuple[RelationLine, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(entity.name for entity in self.entities)

    @property
    def dangling(self) -> tuple[RelationLine, ...]:
        """Relations with an undescribed end, as earlier releases of Anthropic's server wrote them."""
        return tuple(line for line in self.relations if not {line.source, line.target} <= self.names)


def parse(text: str) -> GraphLines:
    entities, relations, unreadable = [], [], []
    for line in text.split("\n"):
        if not line.strip():
            continue
        match _read(line):
            case EntityLine() as entity:
                entities.append(entity)
            case RelationLine() as relation:
                relations.append(relation)
            case None:
                unreadable.append(line)
    return GraphLines(tuple(entities), tuple(relations), tuple(unreadable))


def render(lines: GraphLines) -> str:
    """Entities, then relations, then unreadable lines; an empty graph is one empty line."""
    written = [*map(rendered, lines.entities), *map(rendered, lines.relations)]
    return "\n".join([*written, *lines.unreadable]) + "\n"


def rendered(line: EntityLine | RelationLine) -> str:
    """Byte for byte as Anthropic's server writes it."""
    value: dict[str, Any]
    if isinstance(line, EntityLine):
        value = {
            "type": "entity",
            "name": line.name,
            "entityType": line.type,
            "observations": line.observations,
        }
    else:
        value = {"type": "relation", "from": line.source, "to": line.target, "relationType": line.type}
    return _compact(value)


def _read(line: str) -> EntityLine | RelationLine | None:
    try:
        line.encode()
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if value.get("type") == "entity":
        return _entity(value)
    if value.get("type") == "relation":
        return _relation(value)
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _entity(value: dict[str, Any]) -> EntityLine | None:
    name, type, observations = (value.get(key) for key in ("name", "entityType", "observations"))
    if not isinstance(observations, list) or not _are_texts([name, type, *observations]):
        return None
    return EntityLine(str(name), str(type), tuple(observations))


def _relation(value: dict[str, Any]) -> RelationLine | None:
    ends = [value.get(key) for key in ("from", "to", "relationType")]
    return RelationLine(*map(str, ends)) if _are_texts(ends) else None


def _are_texts(values: Iterable[Any]) -> bool:
    """Text that can be stored: a NUL or half of a surrogate pair can stand in JSON, but not in a database."""
    return all(isinstance(value, str) and "\0" not in value and _is_whole(value) for value in values)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """The difference between two readings of a graph."""

    added: tuple[EntityLine, ...]
    """Entities that are new, and new observations of known ones."""
    removed: tuple[EntityLine, ...]
    """Deleted entities."""
    retyped: tuple[tuple[EntityLine, str], ...]
    """Entities as they were, with the type they have now."""
    unobserved: tuple[EntityLine, ...]
    """Observations deleted from remaining entities, under their new type."""
    related: tuple[RelationLine, ...]
    unrelated: tuple[RelationLine, ...]


def difference(before: GraphLines, after: GraphLines) -> GraphDifference:
    old, new = _merged(before.entities), _merged(after.entities)
    retyped = _retyped(old, new)
    for was, type in retyped:
        old[was.name, type] = EntityLine(was.name, type, old.pop((was.name, was.type)).observations)
    added = [line for key, line in new.items() if key not in old]
    unobserved = []
    for key in old.keys() & new.keys():
        more = Counter(new[key].observations) - Counter(old[key].observations)
        less = Counter(old[key].observations) - Counter(new[key].observations)
        added += [EntityLine(*key, tuple(more.elements()))] if more else []
        unobserved += [EntityLine(*key, tuple(less))] if less else []
    return GraphDifference(
        added=tuple(added),
        removed=tuple(line for key, line in old.items() if key not in new),
        retyped=retyped,
        unobserved=tuple(unobserved),
        related=_missing_from(before.relations, after.relations),
        unrelated=_missing_from(after.relations, before.relations),
    )


_ByNameAndType = dict[tuple[str, str], EntityLine]


def _merged(lines: Sequence[EntityLine]) -> _ByNameAndType:
    """Earlier releases of Anthropic's server could write one entity twice."""
    merged: _ByNameAndType = {}
    for line in lines:
        known = merged.get((line.name, line.type), EntityLine(line.name, line.type))
        merged[line.name, line.type] = EntityLine(
            line.name, line.type, known.observations + line.observations
        )
    return merged


def _retyped(old: _ByNameAndType, new: _ByNameAndType) -> tuple[tuple[EntityLine, str], ...]:
    types = _only_types(new)
    return tuple(
        (old[name, type], types[name])
        for name, type in _only_types(old).items()
        if name in types and types[name] != type
    )


def _only_types(lines: _ByNameAndType) -> dict[str, str]:
    """The type of each name that has only one."""
    counts = Counter(name for name, _ in lines)
    return {name: type for name, type in lines if counts[name] == 1}


def _missing_from(some: Iterable[RelationLine], others: Iterable[RelationLine]) -> tuple[RelationLine, ...]:
    known = set(some)
    return tuple(line for line in dict.fromkeys(others) if line not in known)
