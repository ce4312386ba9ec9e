"""Tuning the ranking and reading its quality from the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.shell import Shell


@pytest.fixture
def searched(shell: Shell) -> Shell:
    """One search, of which one result was added to."""
    shell.said("entities", "create", "Dispatcher lamp", "--observation", "red lamp on the desk")
    shell.said("search", "red lamp")
    shell.said("observations", "add", "Dispatcher lamp", "needs a bulb")
    return shell


def test_tune_says_what_there_is_to_learn_from(searched: Shell) -> None:
    found = searched.json("tune")
    assert (found["log"]["searches"], found["log"]["judged"]) == (1, 1)
    assert found["log"]["by_sign"] == {"extended": 1}
    assert (found["needed"], found["missing"]) == (50, 49)
    assert found["weights"] == {"gamma": 0.01, "beta_sal": 0.5, "changed_at": None}
    assert searched.json("tune", "--analyze") == found
    shown = searched.run("tune")
    assert "1 search logged, 1 of them with feedback" in shown.stdout
    assert "needs 49 more searches" in shown.stderr


def test_tuning_too_little_is_refused(searched: Shell) -> None:
    assert "1 searches have feedback so far and 50 are needed: 49 more" in searched.refused(
        "tune", "--tune", exit_code=2
    )


def test_weights_are_set_and_stay(searched: Shell) -> None:
    assert "gamma 0.02, beta 0.5" in searched.said("tune", "--set-gamma", "0.02")
    assert searched.json("tune", "--set-beta", "0.8")["gamma"] == 0.02
    weights = searched.json("tune")["weights"]
    assert (weights["gamma"], weights["beta_sal"]) == (0.02, 0.8)
    assert "gamma must be between 0 and 1, not 3" in searched.refused("tune", "--set-gamma", "3", exit_code=2)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--tune", "--set-beta", "1"), "give one of"),
        (("--tune", "--gamma-range", "a,b"), "not a list of numbers"),
        (("--tune", "--blend", "2"), "blend must be"),
    ],
)
def test_what_makes_no_sense_is_refused(shell: Shell, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in shell.complaint("tune", *words)


def test_metrics_of_searches_by_words_alone_have_nothing_to_compare(searched: Shell) -> None:
    assert searched.json("metrics")["searches"] == 0
    assert "Over 0 searches" in searched.run("metrics").stderr


def test_metrics_compare_both_rankings(shell_with_model: Shell) -> None:
    shell_with_model.said("entities", "create", "Dispatcher lamp", "--observation", "red lamp on the desk")
    shell_with_model.said("search", "red lamp")
    shell_with_model.said("observations", "add", "Dispatcher lamp", "needs a bulb")
    found = shell_with_model.json("metrics")
    assert found["searches"] == 1
    assert found["limbic"] == found["cosine"]
    assert found["limbic"]["ndcg"] == {"1": 1.0, "3": 1.0, "5": 1.0, "10": 1.0}
    lines = shell_with_model.said("metrics").splitlines()
    assert lines[0].split("\t") == ["metric", "limbic", "cosine alone"]
    assert lines[-1].split("\t") == ["MRR", "1", "1"]
