"""Captured memories: taken from conversations, kept on trial, accepted or dropped by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mcp_memory.capture import MOST_PER_SESSION, Candidate, Turn
from mcp_memory.capture.candidates import explained
from mcp_memory.capture.corrections import replaces
from mcp_memory.capture.scope import about_a_person
from mcp_memory.capture.uses import is_used
from mcp_memory.engine.context import Context, Topic, at_most
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.memories import Memories, MemoryPage
from mcp_memory.engine.memory_changes import living, supersede
from mcp_memory.engine.quiet_search import look
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.events import MemoryDeleted, MemoryForgotten, MemoryUpdated
from mcp_memory.model import Filter, Memory
from mcp_memory.storage import Transaction
from mcp_memory.storage.sessions import AssistantSession
from mcp_memory.text.fingerprint import long_fingerprint
from mcp_memory.text.preview import shortened

CONFIDENCE = 0.3
"""Initial confidence of a captured memory: after eight days without use it may be archived."""

ACCEPTED_CONFIDENCE = 0.8
"""Minimum confidence of an accepted one."""

DROPPED = "not worth keeping"
"""Reason stored with a dropped memory; the same content is not captured again."""

PAUSED = "capture_paused"

LEAST_COSINE = 0.45
"""Similarity from which a memory is taken for the one that a correction means."""

MOST_DECIDED = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """The findings of one pass over a transcript."""

    session: str
    client: str
    project: str
    candidates: tuple[Candidate, ...]
    cursor: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenIn:
    """The outcome, as ids of memories."""

    created: tuple[str, ...] = ()
    recurred: tuple[str, ...] = ()
    """Known before."""
    accepted: tuple[str, ...] = ()
    """Captured in another session before; the repetition makes them ordinary memories."""
    superseded: tuple[str, ...] = ()
    left_out: int = 0
    """Left out because the session reached its limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """Captured memories that were accepted or dropped, and the change to undo."""

    ids: tuple[str, ...]
    act: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a memory was captured."""

    memory: Memory
    rule: str
    explanation: str
    client: str
    session: str
    turn: str
    said_at: str | None


class Captures(Topic):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memories = Memories(replace(context, caller=replace(context.caller, via="capture")))

    def take_in(self, heard: Heard) -> TakenIn:
        """Store the candidates on trial. Those that the session brought before are skipped."""
        if self.is_paused():
            return TakenIn()
        known = self._kept(heard)
        fresh = {mark: one for one in heard.candidates if (mark := long_fingerprint(one.text)) not in known}
        room = max(0, MOST_PER_SESSION - len(known))
        outcome = [self._take(heard, one) for one in list(fresh.values())[:room]]
        self._note(heard, [*known, *list(fresh)[:room]])
        return TakenIn(
            created=_ids(outcome, "created"),
            recurred=_ids(outcome, "recurred"),
            accepted=_ids(outcome, "accepted"),
            superseded=tuple(id for one in outcome for id in one.superseded),
            left_out=max(0, len(fresh) - room),
        )

    def find(self, *, session: str | None = None, limit: int = 50, offset: int = 0) -> MemoryPage:
        """Memories on trial, the newest first."""
        return self._memories.find(Filter(captured=True, channel=session), limit=limit, offset=offset)

    def accept(self, ids: Sequence[str] = (), *, session: str | None = None, every: bool = False) -> Decided:
        """Make captured memories ordinary ones: by id, all of a session, or every one."""
        with self._context.writing() as tx:
            chosen = self._chosen(tx, ids, session, every)
            for memory in chosen:
                accept(tx, memory)
            return Decided(ids=tuple(memory.id for memory in chosen), act=tx.act if chosen else None)

    def drop(self, ids: Sequence[str] = (), *, session: str | None = None, every: bool = False) -> Decided:
        """Forget captured memories, chosen in the same way. They are not captured again."""
        with self._context.writing() as tx:
            chosen = self._chosen(tx, ids, session, every)
            for memory in chosen:
                tx.memories.change(memory, forgotten_at=tx.at, forgotten_reason=DROPPED)
                tx.journal.record(MemoryForgotten(memory.id, DROPPED, shortened(memory.content)))
                tx.journal.record(MemoryDeleted(memory.id))
            return Decided(ids=tuple(memory.id for memory in chosen), act=tx.act if chosen else None)

    def purge(self, *, session: str | None = None) -> tuple[str, ...]:
        """Remove the memories on trial, of one session or all, permanently."""
        with self._context.writing() as tx:
            chosen = self._chosen(tx, (), session, every=session is None)
            for memory in chosen:
                tx.purging.erase(tx.purging.find(memory.id))
            return tuple(memory.id for memory in chosen)

    def why(self, id: str) -> Reason:
        """The rule and conversation that a captured memory comes from."""
        with self._context.reading() as tx:
            memory = tx.memories.get(id)
        told = memory.metadata.get("capture")
        if not isinstance(told, Mapping):
            raise NotFound(f"memory {id} was not captured: somebody stored it")
        rule = str(told.get("rule", ""))
        return Reason(
            memory=memory,
            rule=rule,
            explanation=explained(rule, memory.content),
            client=str(told.get("client", "")),
            session=str(told.get("session", "")),
            turn=str(told.get("turn", "")),
            said_at=told.get("said_at"),
        )

    def set_paused(self, paused: bool) -> None:
        """Whether capture and injection are paused in this space."""
        with self._context.noting() as tx:
            tx.settings.put(PAUSED, paused)

    def is_paused(self) -> bool:
        with self._context.reading() as tx:
            return bool(tx.settings.get(PAUSED, False))

    def cursor(self, session: str) -> int:
        """How far the transcript of a session was read."""
        with self._context.reading() as tx:
            found = tx.sessions.find(session)
        return int(found.state.get("cursor", 0)) if found else 0

    def note_uses(self, session: str, turns: Sequence[Turn]) -> tuple[str, ...]:
        """Reinforce memories that were injected into the session and then used, each once per session."""
        with self._context.reading() as tx:
            found = tx.sessions.find(session)
            state = found.state if found else {}
            waiting = [id for id in state.get("injected", []) if id not in state.get("used", [])]
            memories = tx.memories.fetch_ids(waiting).values()
        used = [memory for memory in memories if is_used(memory.content, memory.id, turns)]
        if found is None or not used:
            return ()
        with self._context.noting() as tx:
            tx.memories.reinforce([memory.seq for memory in used])
            tx.memories.confirm([memory.seq for memory in used])
            now = tx.sessions.find(session) or found
            marked = [*now.state.get("used", []), *(memory.id for memory in used)]
            tx.sessions.put(replace(now, state={**now.state, "used": marked}))
        return tuple(memory.id for memory in used)

    def last_calls(self) -> dict[str, datetime]:
        """When a hook last called, by client."""
        with self._context.reading() as tx:
            return dict(tx.sessions.last_seen())

    def _take(self, heard: Heard, candidate: Candidate) -> _Outcome:
        with self._context.reading() as tx:
            if tx.memories.was_forgotten(candidate.text, DROPPED):
                return _Outcome("dropped before", "")
        outdated = self._outdated_by(candidate) if candidate.corrects else []
        stored = self._memories.remember(_draft(heard, candidate))
        memory = stored.memory
        if outdated:
            self._supersede(outdated, memory)
        superseded = tuple(one.id for one in outdated)
        if stored.outcome == "created":
            return _Outcome("created", memory.id, superseded)
        if memory.captured_at is not None and memory.channel != heard.session:
            self.accept([memory.id])
            return _Outcome("accepted", memory.id, superseded)
        return _Outcome("recurred", memory.id, superseded)

    def _outdated_by(self, candidate: Candidate) -> list[Memory]:
        """Memories about the same thing that contain what the correction rejects."""
        answer = look(self._context, candidate.text, Filter(superseded=False), limit=10)
        return [
            hit.memory
            for hit in answer.found
            if hit.cosine >= LEAST_COSINE and replaces(candidate.text, hit.memory.content)
        ]

    def _supersede(self, outdated: Sequence[Memory], by: Memory) -> None:
        with self._context.writing() as tx:
            for old in outdated:
                if old.id != by.id:
                    supersede(tx, tx.memories.get(old.id), by.id)

    def _kept(self, heard: Heard) -> list[str]:
        with self._context.reading() as tx:
            found = tx.sessions.find(heard.session)
        return list(found.state.get("kept", [])) if found else []

    def _note(self, heard: Heard, kept: Sequence[str]) -> None:
        with self._context.noting() as tx:
            found = tx.sessions.find(heard.session) or _begun(heard)
            # Another hook may have read further meanwhile.
            both = dict.fromkeys((*found.state.get("kept", []), *kept))
            cursor = max(heard.cursor, int(found.state.get("cursor", 0)))
            state = {**found.state, "kept": list(both), "cursor": cursor}
            tx.sessions.put(replace(found, client=heard.client, project=heard.project, state=state))

    def _chosen(self, tx: Transaction, ids: Sequence[str], session: str | None, every: bool) -> list[Memory]:
        at_most(len(ids), MOST_DECIDED, "ids")
        if not ids and session is None and not every:
            raise Invalid("nothing says which captured memories are meant: give ids, a session, or all")
        if ids:
            return [_on_trial(living(tx, id)) for id in dict.fromkeys(ids)]
        wanted, half_life = Filter(captured=True, channel=session), self._context.tuning.half_life
        return tx.memories.find(wanted, order="oldest", limit=MOST_DECIDED, half_life=half_life)


@dataclass(frozen=True, slots=True)
class _Outcome:
    what: str
    id: str
    superseded: tuple[str, ...] = ()


def accept(tx: Transaction, memory: Memory) -> Memory:
    """Make a memory on trial an ordinary one."""
    confidence = max(memory.confidence, ACCEPTED_CONFIDENCE)
    changed = tx.memories.change(memory, captured_at=None, confidence=confidence, accessed_at=tx.at)
    tx.journal.record(MemoryUpdated(memory.id, {"captured": False}))
    return changed


def _on_trial(memory: Memory) -> Memory:
    if memory.captured_at is None:
        raise Invalid(f"memory {memory.id} is not on trial: it is an ordinary one; forget it if it is wrong")
    return memory


def _draft(heard: Heard, candidate: Candidate) -> NewMemory:
    told = {
        "rule": candidate.rule,
        "client": heard.client,
        "session": heard.session,
        "turn": candidate.turn,
        "said_at": candidate.at.isoformat() if candidate.at else None,
    }
    return NewMemory(
        content=candidate.text,
        type=candidate.type,
        confidence=CONFIDENCE,
        source=heard.client or None,
        channel=heard.session,
        metadata={"capture": told},
        captured=True,
        project="" if about_a_person(candidate.text) else heard.project,
    )


def _begun(heard: Heard) -> AssistantSession:
    return AssistantSession(id=heard.session, client=heard.client, project=heard.project)


def _ids(outcome: Sequence[_Outcome], what: str) -> tuple[str, ...]:
    return tuple(one.id for one in outcome if one.what == what)
