"""Due times of jobs, robust against clock jumps."""

from datetime import datetime, timedelta

MOST_STEP = timedelta(days=2)
"""How far the clock for expiry advances in one run. Runs are a day apart, so it keeps up with a correct
clock, while a clock that briefly jumps years ahead makes almost nothing expire.
"""


def is_due(last: datetime | None, now: datetime, every: timedelta) -> bool:
    """Whether the next run is due. A last run in the future means that the clock was wrong: it is due."""
    if last is None:
        return True
    passed = now - last
    return passed >= every or passed < timedelta(0)


def expiry_time(last: datetime | None, now: datetime, most_step: timedelta = MOST_STEP) -> datetime:
    """The time used for expiry, given the time of the previous run."""
    return now if last is None else min(now, last + most_step)
