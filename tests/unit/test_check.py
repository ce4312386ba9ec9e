"""`make check`: a step that fails is shown whole, and fails the run."""

from __future__ import annotations

import pytest
from tools.check import STEPS, main

pytestmark = pytest.mark.unit


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    for name in list(STEPS):
        monkeypatch.delitem(STEPS, name)
    monkeypatch.setitem(STEPS, "good", ["python", "-c", "print('many\\nlines\\nfine')"])
    return STEPS


def test_of_a_step_that_passes_the_last_line_is_shown(
    steps: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("passed  good (")
    assert out.endswith("fine\n")
    assert "many" not in out


def test_a_step_that_fails_is_shown_whole_and_named_at_the_end(
    steps: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(steps, "bad", ["python", "-c", "print('what\\nis wrong'); raise SystemExit(3)"])
    assert main([]) == 1
    shown = capsys.readouterr()
    assert "FAILED  bad (" in shown.out
    assert "what\nis wrong\n" in shown.out
    assert shown.err == "\nfailed: bad\n"


def test_a_step_that_does_not_exist_is_refused(
    steps: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nonsense"]) == 2
    assert "no step is called 'nonsense'; there are good" in capsys.readouterr().err
