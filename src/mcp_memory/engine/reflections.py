"""Reflections: prose about an entity, a relation, a session or everything."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.engine.context import Topic, checked_limit, checked_offset, checked_text, storable
from mcp_memory.engine.pipeline import ask, search
from mcp_memory.engine.reflection_search import ReflectionAnswer, ReflectionPlan
from mcp_memory.errors import Invalid
from mcp_memory.events import ReflectionAdded, ReflectionDeleted
from mcp_memory.model import Reflection, ReflectionTarget
from mcp_memory.storage import Transaction

TARGETS: tuple[ReflectionTarget, ...] = ("entity", "session", "relation", "global")

MOST_LISTED = 200
LONGEST = 20_000
"""Characters of one reflection."""


@dataclass(frozen=True, slots=True)
class Targeted:
    """A reflection, and the id of the entity or relation it is about."""

    reflection: Reflection
    target_id: str | None


@dataclass(frozen=True, slots=True)
class ReflectionPage:
    """A page of reflections, and their total number."""

    reflections: tuple[Targeted, ...]
    total: int


class Reflections(Topic):
    def add(
        self,
        target_type: str,
        content: str,
        *,
        target: int | str | None = None,
        author: str | None = None,
        mood: str | None = None,
    ) -> Reflection:
        """Store a reflection. `target` is the number or id of an entity or relation, or an entity's name."""
        checked_text(content, "a reflection", most=LONGEST)
        author = checked_text(author or self._context.author, "the author", most=100)
        if mood is not None:
            checked_text(mood, "the mood", most=100)
        kind = _target_type(target_type)
        with self._context.writing() as tx:
            reflection = tx.reflections.add(
                id=self._context.new_id(),
                target_type=kind,
                target_seq=_target_seq(tx, kind, target),
                author=author,
                content=content,
                mood=mood,
            )
            tx.journal.record(ReflectionAdded(reflection.id, kind, author))
        return reflection

    def get(self, id: str) -> Targeted:
        with self._context.reading() as tx:
            return _targeted(tx, [tx.reflections.get_id(id)])[0]

    def find(
        self,
        *,
        author: str | None = None,
        mood: str | None = None,
        target_type: str | None = None,
        target: int | str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> ReflectionPage:
        """Reflections, newest first. None does not restrict. `target` needs its type, as in `add`."""
        if target is not None and target_type is None:
            raise Invalid("say with target_type what the target is")
        checked_limit(limit, MOST_LISTED)
        for text in (author, mood, target_type):
            storable(text or "", "a filter")
        with self._context.reading() as tx:
            seq = None if target is None else _target_seq(tx, _target_type(str(target_type)), target)
            allowed = tx.reflections.allowed(
                author=author, mood=mood, target_type=target_type, target_seq=seq
            )
            found = tx.reflections.find(allowed, limit, checked_offset(offset))
            return ReflectionPage(tuple(_targeted(tx, found)), tx.reflections.count_found(allowed))

    def delete(self, id: str) -> None:
        with self._context.writing() as tx:
            reflection = tx.reflections.get_id(id)
            tx.reflections.remove(reflection)
            tx.journal.record(ReflectionDeleted(id, reflection.target_type))

    def targeted(self, reflections: Sequence[Reflection]) -> list[Targeted]:
        """Each reflection with its target."""
        with self._context.reading() as tx:
            return _targeted(tx, reflections)

    def about_entities(self, seqs: list[int]) -> dict[int, list[Reflection]]:
        """The reflections of each entity, oldest first."""
        found: dict[int, list[Reflection]] = {}
        with self._context.reading() as tx:
            for reflection in tx.reflections.about("entity", seqs):
                if reflection.target_seq is not None:
                    found.setdefault(reflection.target_seq, []).append(reflection)
        return found

    def search(
        self,
        query: str,
        *,
        limit: int,
        author: str | None = None,
        mood: str | None = None,
        target_type: str | None = None,
    ) -> ReflectionAnswer:
        """Search by meaning and words, recent before old. Filters apply before the limit."""
        checked_limit(limit, self._context.limits.entities)
        if target_type is not None:
            _target_type(target_type)
        plan = ReflectionPlan(limit, author, mood, target_type)
        return search(self._context, ask(self._context, query, "reflection"), plan)


def _targeted(tx: Transaction, reflections: Sequence[Reflection]) -> list[Targeted]:
    entities = tx.entities.fetch(_targets(reflections, "entity"))
    relations = tx.relations.fetch(_targets(reflections, "relation"))
    ids = {("entity", seq): entity.id for seq, entity in entities.items()}
    ids |= {("relation", seq): relation.id for seq, relation in relations.items()}
    return [Targeted(one, ids.get((one.target_type, one.target_seq or 0))) for one in reflections]


def _targets(reflections: Sequence[Reflection], kind: ReflectionTarget) -> list[int]:
    return [one.target_seq for one in reflections if one.target_type == kind and one.target_seq]


def _target_type(given: str) -> ReflectionTarget:
    for target in TARGETS:
        if given == target:
            return target
    raise Invalid(f"target_type must be one of {', '.join(TARGETS)}, not {given!r}")


def _target_seq(tx: Transaction, kind: ReflectionTarget, target: int | str | None) -> int | None:
    if kind in ("session", "global"):
        if target is not None and (kind == "global" or isinstance(target, str)):
            raise Invalid(f"a reflection about a {kind} has no target: leave it out")
        return target if isinstance(target, int) else None
    if target is None:
        raise Invalid(f"say which {kind}, by its id or, for an entity, by its name")
    if kind == "relation":
        found = tx.relations.get_id(target) if isinstance(target, str) else tx.relations.get_seq(target)
        return found.seq
    return (tx.entities.get(target) if isinstance(target, str) else tx.entities.get_seq(target)).seq
