"""Processes are killed at random and at chosen points of every kind of write, again and again.

    python -m tests.faults.kill_run --rounds 1000 --database both
    python -m tests.faults.kill_run --rounds 100 --database sqlite --kinds "purge memory" migrate --seed 7

Each round starts from a copy of a prepared database. A process carries out acts that are known in advance, so
that the state after each is known too, and dies by SIGKILL. Then the database is opened, examined as `doctor`
does, and compared: it must be as after the last acknowledged act, or as after the one that was under way.
Acts of several transactions, and long operations, are run again, and must then be done. Loopback only.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mcp_memory.storage import Database
from mcp_memory.storage.sqlite.connection import LAST_OF_TEXT
from tests.consistency import troubles
from tests.faults import acts, victims
from tests.faults.kill_points import How
from tests.faults.operations import NEWEST, OPERATIONS, Operation
from tests.faults.places import Places, SqlitePlaces, open_database, postgres_places
from tests.faults.released_schemas import NUMBERS, version_of

PATIENCE = 120.0
"""Seconds that a process may take; only one that hangs ever does."""
REPEATED = 500
"""The number of an act that is carried out again."""
ORDERS = 4
"""Different orders of all acts, for kills at random times."""
PAIRS = 6
AT_RANDOM = "any, at random"
"""The kind of round in which a process dies at any time."""
DEATHS: tuple[How, ...] = ("before", "torn", "after")
UNHARMFUL = frozenset({"disk", "dead rows", "durability"})
"""What `doctor` finds about the machine and the settings of a server for tests, not about the data."""

_processes = multiprocessing.get_context("forkserver")


class Failed(AssertionError):
    """Something acknowledged is lost, or something is half done."""


@dataclass
class Tally:
    """What became of the rounds of one kind."""

    rounds: int = 0
    killed: int = 0
    """The others were done before their time came."""
    acknowledged: int = 0
    undone: int = 0
    """The act under way left nothing."""
    done: int = 0
    """The act under way was done, and its acknowledgement died."""
    taken_back: int = 0
    """An act of several transactions was taken back by the next start."""
    between: int = 0
    """An act of several transactions, or an operation, was completed by running it again."""


@dataclass
class Report:
    seed: int
    tallies: dict[str, dict[str, Tally]] = field(default_factory=dict)

    def tally(self, database: str, kind: str) -> Tally:
        return self.tallies.setdefault(database, {}).setdefault(kind, Tally())

    def total(self) -> Tally:
        counted: Counter[str] = Counter()
        for kinds in self.tallies.values():
            for tally in kinds.values():
                counted.update(asdict(tally))
        return Tally(**counted)

    def json(self) -> str:
        kinds = {
            name: {kind: asdict(one) for kind, one in found.items()} for name, found in self.tallies.items()
        }
        return json.dumps({"seed": self.seed, "total": asdict(self.total()), "kinds": kinds}, indent=1)

    def table(self) -> str:
        names = list(asdict(Tally()))
        lines = [f"| database | kind | {' | '.join(names)} |", "|---|---|" + "--:|" * len(names)]
        for database, kinds in self.tallies.items():
            lines += [_row(database, kind, one) for kind, one in sorted(kinds.items())]
        return "\n".join([*lines, _row("both" if len(self.tallies) > 1 else "", "**all**", self.total())])


def _row(database: str, kind: str, tally: Tally) -> str:
    return f"| {database} | {kind} | {' | '.join(f'{value:,}' for value in asdict(tally).values())} |"


@dataclass(frozen=True)
class Rehearsal:
    """The states before and after each act of an order, and the steps of its last act."""

    order: tuple[str, ...]
    states: tuple[str, ...]
    kept: tuple[str, ...]
    contents: tuple[str, ...]
    steps: int


class Rounds:
    """Rounds on the databases of one kind."""

    def __init__(self, places: Places, targets: Places, report: Report, chance: random.Random) -> None:
        """`targets`: where empty databases are made, to copy to."""
        self._places = places
        self._targets = targets
        self._report = report
        self._chance = chance
        self._rehearsals: dict[tuple[str, ...], Rehearsal] = {}
        self._steps: dict[tuple[str, str], int] = {}
        self._samples: set[str] = set()
        self._migrated: dict[str, str] = {}
        self._orders = [tuple(chance.sample(sorted(acts.ACTS), len(acts.ACTS))) for _ in range(ORDERS)]
        places.prepared("base", _prepare_base)

    def chosen(self, kind: str) -> None:
        """Kill at a step of that act, which is the last of three."""
        rehearsal = self._rehearsed(self._before(kind))
        while not rehearsal.steps:  # refused, because of those before it
            rehearsal = self._rehearsed(self._before(kind))
        death = (self._chance.randint(1, rehearsal.steps), self._chance.choice(DEATHS))
        self._killed_acts(kind, rehearsal, death)

    def _before(self, kind: str) -> tuple[str, ...]:
        """The act after one of a few pairs of others: rehearsing takes as long as a round."""
        chance = random.Random(f"{kind} {self._chance.randrange(PAIRS)}")
        return (*chance.sample(sorted(acts.ACTS.keys() - {kind}), 2), kind)

    def at_random(self) -> None:
        """Kill at any time while all acts are carried out."""
        self._killed_acts(AT_RANDOM, self._rehearsed(self._chance.choice(self._orders)), None)

    def operation(self, kind: str) -> None:
        """Kill at a step of a long operation, look that nothing is lost, and run it again."""
        operation, tally = OPERATIONS[kind], self._report.tally(self._places.name, kind)
        base = self._sample() if operation.samples else "base"
        with self._place(base) as url, self._target() as target:
            steps = self._operation_steps(kind, base)
            allowed = set() if operation.samples else _allowed(operation, url, target)
            death = (self._chance.randint(1, steps), self._chance.choice(DEATHS))
            victim, heard = started(victims.operate, kind, url, target, death)
            told = heard_from(heard)
            self._note_death(tally, victim)
            self._places.settle(url)
            self._targets.settle(target)
            where = f"{self._places.name}: {kind} of {base}, killed at {death} of {steps}"
            if operation.samples:
                _check_old_or_new(url, base, where)
            else:
                self._check_sound(url, where)
                if _state(url) not in allowed:
                    raise Failed(f"changed what was kept: {where}")
            tally.acknowledged += len(told)
            tally.between += not told
            operation.run(url, target)
            if not operation.finished(url, target):
                raise Failed(f"cannot be completed: {where}")
            self._check_sound(url, where)
            if operation.samples and _state(url) != self._migrated_state(base):
                raise Failed(f"another state: {where}")

    def _sample(self) -> str:
        """The name of the base with a database of some older version."""
        number = self._chance.choice([number for number in NUMBERS if number < max(NUMBERS)])
        base = f"schema-{number}"
        if base not in self._samples:
            self._places.sample(base, number)
            self._samples.add(base)
        return base

    def _migrated_state(self, base: str) -> str:
        if base not in self._migrated:
            with self._place(base) as url:
                self._migrated[base] = _state(url)
        return self._migrated[base]

    def _operation_steps(self, kind: str, base: str) -> int:
        if (kind, base) not in self._steps:
            with self._place(base) as url, self._target() as target:
                OPERATIONS[kind].prepare(url, target)
                _, heard = started(victims.operate, kind, url, target, None)
                [self._steps[kind, base]] = heard_from(heard)
        return self._steps[kind, base]

    def _killed_acts(self, kind: str, rehearsal: Rehearsal, death: victims.Death) -> None:
        tally = self._report.tally(self._places.name, kind)
        with self._place() as url:
            victim, heard = started(victims.act_in_order, url, rehearsal.order, death)
            told = [] if death else self._struck(victim, heard, len(rehearsal.order))
            told += heard_from(heard)
            self._note_death(tally, victim)
            self._places.settle(url)
            last = max(told, default=0)
            tally.acknowledged += last
            where = f"{self._places.name}: {kind}, killed at {death} after {last} of {rehearsal.order}"
            self._check_sound(url, where)
            self._compare(url, rehearsal, last, tally, where)

    def _struck(self, victim: Any, heard: Connection, acts_count: int) -> list[int]:
        """Kill some moments after some acknowledgement; what was acknowledged up to that."""
        told = [heard.recv() for _ in range(self._chance.randint(1, acts_count))]
        victim.join(self._chance.random() * 0.02)
        victim.kill()
        return told

    def _compare(self, url: str, rehearsal: Rehearsal, last: int, tally: Tally, where: str) -> None:
        state = _state(url)
        if last == len(rehearsal.order):
            if state != rehearsal.states[last]:
                raise Failed(f"lost: {where}")
        elif state == rehearsal.states[last + 1]:
            tally.done += 1
        elif state == rehearsal.states[last]:
            tally.undone += 1
        elif rehearsal.order[last] in acts.TAKEN_BACK:
            tally.taken_back += 1
            if _kept(url) != rehearsal.kept[last]:
                raise Failed(f"not taken back: {where}")
        elif rehearsal.order[last] in acts.RESUMED:
            tally.between += 1
            if _repeated(url, rehearsal.order[last]) != rehearsal.contents[last + 1]:
                raise Failed(f"cannot be completed: {where}")
        else:
            raise Failed(f"half done: {where}")

    def _rehearsed(self, order: tuple[str, ...]) -> Rehearsal:
        if order not in self._rehearsals:
            with self._place() as url:
                _, heard = started(victims.rehearse, url, order)
                *after, steps = heard_from(heard) or [0]
            if len(after) != len(order) + 1:
                raise Failed(f"the acts {order} failed without a kill")
            states, kept, contents = zip(*after, strict=True)
            self._rehearsals[order] = Rehearsal(order, states, kept, contents, steps)
        return self._rehearsals[order]

    def _check_sound(self, url: str, where: str) -> None:
        database = open_database(url)
        try:
            bad = [one for one in database.examine() if not one.is_well and one.subject not in UNHARMFUL]
            engine = acts.engine_on(database)
            wrong = troubles(engine._context.store)
        finally:
            database.close()
        if bad or wrong:
            raise Failed(f"not sound: {where}: {[one.detail for one in bad]} {wrong}")

    def _note_death(self, tally: Tally, victim: Any) -> None:
        victim.join(PATIENCE)
        if victim.exitcode not in (0, -signal.SIGKILL):
            raise Failed(f"the process ended with {victim.exitcode} instead of being killed")
        tally.rounds += 1
        tally.killed += victim.exitcode == -signal.SIGKILL

    def _place(self, base: str = "base") -> AbstractContextManager[str]:
        return _copied(self._places, base)

    def _target(self) -> AbstractContextManager[str]:
        return _copied(self._targets, None)


@contextmanager
def _copied(places: Places, base: str | None) -> Iterator[str]:
    url = places.copied(base)
    yield url
    places.settle(url)
    places.remove(url)


def _allowed(operation: Operation, url: str, target: str) -> set[str]:
    """The states that a kill may leave. Prepares the operation."""
    earlier = _state(url)
    operation.prepare(url, target)
    return {_state_of_copy(url), earlier} if operation.goes_back else {_state(url)}


def _state_of_copy(url: str) -> str:
    """Closing a database would move its log into it, and a kill is to find the log."""
    database = Path(url.removeprefix("sqlite:///"))
    with tempfile.TemporaryDirectory() as folder:
        for file in (database, database.with_name(f"{database.name}-wal")):
            shutil.copy(file, folder)
        return _state(f"sqlite:///{folder}/{database.name}")


def _check_old_or_new(url: str, base: str, where: str) -> None:
    """Before anything opens it and migrates it again."""
    if version_of(url) not in (int(base.removeprefix("schema-")), LAST_OF_TEXT, NEWEST):
        raise Failed(f"half migrated: {where}")


def _prepare_base(database: Database) -> None:
    acts.prepare(acts.engine_on(database))


def _repeated(url: str, kind: str) -> str:
    """What is known once an act was carried out again."""
    database = open_database(url)
    try:
        engine = acts.engine_on(database)
        acts.carry_out(kind, acts.for_act(engine, REPEATED))
        return acts.contents(engine)
    finally:
        database.close()


def _kept(url: str) -> str:
    database = open_database(url)
    try:
        return acts.kept(acts.engine_on(database))
    finally:
        database.close()


def _state(url: str) -> str:
    database = open_database(url)
    try:
        return acts.state(acts.engine_on(database))
    finally:
        database.close()


def started(body: Any, *args: Any) -> tuple[Any, Connection]:
    heard, told = _processes.Pipe(duplex=False)
    victim = _processes.Process(target=body, args=(*args, told))
    victim.start()
    told.close()
    return victim, heard


def heard_from(heard: Connection) -> list[Any]:
    """Whatever a process said before it ended."""
    told = []
    try:
        while heard.poll(PATIENCE):
            told.append(heard.recv())
    except (EOFError, OSError):
        return told
    raise Failed("a process hangs")


def kinds_of(places: Places) -> list[str]:
    """Every act and operation, and kills at any time as often as a tenth of them together."""
    operations = [kind for kind, one in OPERATIONS.items() if places.name in one.databases]
    return [*acts.ACTS, *operations, *[AT_RANDOM] * 8]


def run(places: Iterable[tuple[Places, Places]], rounds: int, seed: int, kinds: Sequence[str] = ()) -> Report:
    """As many rounds on each database. Raises `Failed` at the first that is not as it must be."""
    report, chance = Report(seed), random.Random(seed)
    for place, targets in places:
        here = Rounds(place, targets, report, chance)
        wanted = [kind for kind in kinds_of(place) if not kinds or kind in kinds]
        for number in range(rounds if wanted else 0):
            _one(here, wanted[number % len(wanted)])
    return report


def _one(rounds: Rounds, kind: str) -> None:
    if kind in OPERATIONS:
        rounds.operation(kind)
    elif kind in acts.ACTS:
        rounds.chosen(kind)
    else:
        rounds.at_random()


@contextmanager
def opened_places(folder: Path, which: str) -> Iterator[list[tuple[Places, Places]]]:
    """Where databases are made, and where those to copy to: with both engines, from each to the other."""
    _processes.set_forkserver_preload(["tests.faults.victims"])
    sqlite = SqlitePlaces(folder)
    with ExitStack() as stack:
        if which == "sqlite":
            yield [(sqlite, sqlite)]
            return
        postgres = stack.enter_context(postgres_places())
        yield [(postgres, sqlite)] if which == "postgres" else [(sqlite, postgres), (postgres, sqlite)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=1000, help="on all databases together")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--kinds", nargs="*", default=[], help="only these")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--json", type=Path, help="where to write the counts; default: standard output")
    options = parser.parse_args()
    known = {*acts.ACTS, *OPERATIONS, AT_RANDOM}
    if unknown := set(options.kinds) - known:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}. There are: {', '.join(sorted(known))}")
    print(f"seed {options.seed}", file=sys.stderr)
    with (
        tempfile.TemporaryDirectory(prefix="mcp-kills-") as folder,
        opened_places(Path(folder), options.database) as places,
    ):
        report = run(places, -(-options.rounds // len(places)), options.seed, options.kinds)
    print(report.table())
    if options.json:
        options.json.write_text(report.json())
    else:
        print(report.json())


if __name__ == "__main__":
    main()
