"""The processes of kill rounds: they write, say what is acknowledged, and may die at a chosen step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from mcp_memory.engine import Engine
from tests.faults import acts
from tests.faults.kill_points import STEPS, How, count_steps
from tests.faults.operations import OPERATIONS
from tests.faults.places import open_database

Death = tuple[int, How] | None
"""The step of the last act to die at, and how."""


def act_in_order(url: str, order: Sequence[str], death: Death, told: Connection) -> None:
    """Carry out acts one after another. Each number that is sent is an acknowledgement."""
    count_steps()
    engine = acts.engine_on(open_database(url))
    told.send(0)
    for number, kind in enumerate(order, 1):
        if number == len(order) and death is not None:
            STEPS.arm(*death)
        acts.carry_out(kind, acts.for_act(engine, number))
        told.send(number)
    engine.close()


def rehearse(url: str, order: Sequence[str], told: Connection) -> None:
    """The same undisturbed: sends digests of what there is before and after each act, then the last one's
    steps."""
    count_steps()
    engine = acts.engine_on(open_database(url))
    told.send(digests(engine))
    for number, kind in enumerate(order, 1):
        STEPS.arm(0, "before")
        acts.carry_out(kind, acts.for_act(engine, number))
        steps = STEPS.taken
        told.send(digests(engine))
    told.send(steps)
    engine.close()


def digests(engine: Engine) -> tuple[str, str, str]:
    return acts.state(engine), acts.kept(engine), acts.contents(engine)


def operate(operation: str, url: str, target: str, death: Death, told: Connection) -> None:
    """Carry out a long operation; sends the number of its steps when it is done."""
    count_steps()
    run: Callable[[str, str], None] = OPERATIONS[operation].run
    STEPS.arm(*(death or (0, "before")))
    run(url, target)
    told.send(STEPS.taken)


def start(url: str, death: Death, told: Connection) -> None:
    """Only open the database, as every start does; sends the number of steps that takes."""
    count_steps()
    STEPS.arm(*(death or (0, "before")))
    engine = acts.engine_on(open_database(url))
    told.send(STEPS.taken)
    engine.close()
