"""Memories that arrive unasked: at the start of a session, with a prompt, when a tool fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from mcp_memory.capture.fixes import error_line
from mcp_memory.capture.speech import untagged
from mcp_memory.engine.captures import Captures
from mcp_memory.engine.context import Context, Topic
from mcp_memory.engine.quiet_search import Found, QuietAnswer, look
from mcp_memory.fields import Help
from mcp_memory.model import Filter, Memory
from mcp_memory.ranking.certainty import COMPANY, FLOOR, WORDS_FLOOR, least_certainty
from mcp_memory.storage import Transaction
from mcp_memory.storage.sessions import AssistantSession
from mcp_memory.text.generality import asks_in_general, is_about_the_person, is_small_talk
from mcp_memory.text.injection import block, line, within
from mcp_memory.text.words import query_terms

MOST_INJECTED = 5
PROMPT_TOKENS = 400
START_TOKENS = 600
LOOKED_AT = 12
"""How many candidates are judged for one prompt."""

LEAST_TERMS = 2
"""Distinctive words that make a prompt specific enough for a search, unless it is about the person."""

MOST_REMEMBERED = 500
"""How many ids of injected memories are kept per session."""

PROMPT_HEADING = "From earlier sessions, for this prompt:"
START_HEADING = "What is remembered about this person and this project:"
FAILURE_HEADING = "This was seen before:"

SECTIONS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("Who they are", ("identity",), 4),
    ("Preferences and rules", ("preference",), 6),
    ("Open goals and todos", ("goal", "todo"), 5),
    ("Latest decisions", ("decision",), 4),
    ("Facts", ("fact", "procedure", "pattern"), 4),
    ("Lately here", ("event", "learning"), 3),
)
"""Heading, types and maximum lines of each section of the digest, most useful first."""

_BY_TIME = ("goal", "todo", "decision", "event", "learning")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something arrives: which session of which client, in which project."""

    session: str = ""
    client: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate for a prompt, with the reason if it was left out."""

    memory: Memory
    certainty: float
    left_out: str = ""
    space: str = ""
    """Where it is from, if that is not the caller's own space."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Injection:
    """The injected text and its memories; empty, with the reason, if there is none."""

    text: Annotated[str, Help("The block as the assistant would get it; empty for silence.")] = ""
    silence: Annotated[str, Help("Why nothing is injected.")] = ""
    chosen: tuple[Judged, ...] = ()
    left_out: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """Memories that a session already has."""

    injected: frozenset[str] = field(default_factory=frozenset)


class Arrivals(Topic):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._captures = Captures(context)

    def at_start(self, place: Place, *, record: bool = True) -> Injection:
        """A digest of the person and the project; silence where nothing is known."""
        if self._captures.is_paused():
            return Injection(silence="paused")
        parts = []
        for section in SECTIONS:
            for context in (self._context, *self._context.further):
                with context.reading() as tx:
                    space = "" if context is self._context else context.caller.space
                    parts.append(self._section(tx, place, space, *section))
        lines = [text for part in parts for text in part]
        fitting = list(within((text for text, _ in lines), START_TOKENS))
        chosen = [memory for text, memory in lines[: len(fitting)] if memory is not None]
        if record:
            self._remember(place, chosen, anew=True)
        if not chosen:
            return Injection(silence="nothing is remembered yet")
        while fitting[-1].endswith(":"):
            fitting.pop()
        return Injection(text=block(START_HEADING, fitting), chosen=tuple(Judged(one, 1.0) for one in chosen))

    def for_prompt(
        self, prompt: str, place: Place, *, record: bool = True, floor: float | None = None
    ) -> Injection:
        """The memories worth injecting for a prompt; usually none.

        `floor` replaces the calibrated minimum of certainty.
        """
        said = untagged(prompt).strip()
        if said.startswith(("/", "!")):
            return Injection(silence="a command")
        if is_small_talk(said) or (len(query_terms(said)) < LEAST_TERMS and not is_about_the_person(said)):
            return Injection(silence="too short")
        if self._captures.is_paused():
            return Injection(silence="paused")
        return self._inject(said, PROMPT_HEADING, place, Filter(), record, floor)

    def for_failure(self, command: str, error: str, place: Place, *, record: bool = True) -> Injection:
        """Known fixes for this error."""
        if self._captures.is_paused():
            return Injection(silence="paused")
        text = f"{error_line(untagged(error))} {command[:200]}"
        wanted = Filter(types=("learning", "error", "procedure", "pattern"))
        return self._inject(text, FAILURE_HEADING, place, wanted, record)

    def _inject(
        self,
        text: str,
        heading: str,
        place: Place,
        filter: Filter,
        record: bool,
        floor: float | None = None,
    ) -> Injection:
        filter = replace(filter, superseded=False, in_project=place.project)
        answer = look(self._context, text, filter, limit=LOOKED_AT)
        if floor is None:
            floor = FLOOR if answer.by_meaning else WORDS_FLOOR
        least = _least(floor, text, answer)
        if not answer.found or max(one.certainty for one in answer.found) < least:
            all_below = (Judged(one.memory, one.certainty, "below the floor") for one in answer.found)
            return Injection(left_out=tuple(all_below), silence="nothing fits well enough")
        told_as = "failures" if heading == FAILURE_HEADING else "injected"
        judged = self._judged(answer.found, floor - COMPANY, text, place, told_as)
        fitting = [one for one in judged if not one.left_out]
        lines = list(within((line(one.memory, one.space) for one in fitting), PROMPT_TOKENS))
        chosen, over = fitting[: len(lines)], fitting[len(lines) :]
        left = [*(one for one in judged if one.left_out), *(replace(one, left_out="no room") for one in over)]
        if not chosen:
            return Injection(left_out=tuple(left), silence="all of it is known in this session")
        if record:
            self._remember(place, [one.memory for one in chosen], told_as=told_as)
        return Injection(text=block(heading, lines), chosen=tuple(chosen), left_out=tuple(left))

    def _judged(
        self, found: Sequence[Found], least: float, text: str, place: Place, told_as: str
    ) -> list[Judged]:
        known = self._known(place, told_as)
        judged: list[Judged] = []
        for one in found:
            reason = _reason_against(one.memory, text, place, known)
            if not reason and one.certainty < least:
                reason = "below the floor"
            if not reason and sum(not other.left_out for other in judged) >= MOST_INJECTED:
                reason = f"more than {MOST_INJECTED}"
            judged.append(Judged(one.memory, one.certainty, reason, one.space))
        return judged

    def warm_up(self) -> None:
        """Load what the first prompt would otherwise wait for."""
        look(self._context, "what is remembered", Filter(), limit=1)

    def _section(
        self, tx: Transaction, place: Place, space: str, heading: str, types: tuple[str, ...], most: int
    ) -> list[tuple[str, Memory | None]]:
        filter = Filter(types=types, superseded=False, in_project=place.project)
        order = "recent" if types[0] in _BY_TIME else "importance"
        found = tx.memories.find(filter, order=order, limit=most, half_life=self._context.tuning.half_life)
        if not found:
            return []
        confirmed_first = sorted(found, key=lambda memory: memory.captured_at is not None)
        return [(f"{heading}:", None), *((line(memory, space), memory) for memory in confirmed_first)]

    def _known(self, place: Place, told_as: str) -> _Known:
        """A known fix is shown when the failure happens, even if the digest has shown it already."""
        if not place.session:
            return _Known()
        with self._context.reading() as tx:
            found = tx.sessions.find(place.session)
        return _Known(frozenset(found.state.get(told_as, []))) if found else _Known()

    def _remember(
        self,
        place: Place,
        memories: Sequence[Memory],
        *,
        anew: bool = False,
        told_as: str = "injected",
    ) -> None:
        """Record what was injected into the session. A start or a compaction has removed earlier blocks."""
        if not place.session:
            return

        def note(tx: Transaction) -> None:
            session = tx.sessions.find(place.session) or AssistantSession(
                id=place.session, client=place.client, project=place.project
            )
            state = {**session.state, **({"injected": [], "failures": []} if anew else {})}
            for name in {"injected", told_as}:
                told = dict.fromkeys([*state.get(name, []), *(memory.id for memory in memories)])
                state[name] = list(told)[-MOST_REMEMBERED:]
            tx.sessions.put(replace(session, state=state))

        self._context.note_in_passing(note)


def joined(first: Injection, second: Injection) -> Injection:
    """Both, one after the other."""
    return Injection(
        text="\n".join(filter(None, (first.text, second.text))),
        chosen=(*first.chosen, *second.chosen),
        left_out=second.left_out,
        silence=second.silence if not first.text else "",
    )


def _least(floor: float, prompt: str, answer: QuietAnswer) -> float:
    """The certainty that the best memory must reach. Words alone are too coarse a scale for finer steps."""
    if not answer.by_meaning:
        return floor
    is_general = asks_in_general(prompt, [one.memory.content for one in answer.found])
    return least_certainty(floor, is_general=is_general, is_own=is_about_the_person(prompt))


def _reason_against(memory: Memory, text: str, place: Place, known: _Known) -> str:
    if memory.id in known.injected:
        return "injected before"
    if place.session and memory.channel == place.session:
        return "said in this session"
    if " ".join(memory.content.split()) in " ".join(text.split()):
        return "stands in the prompt"
    return ""
