"""Commands to measure search quality and tune the ranking."""

from __future__ import annotations

import click

from mcp_memory.cli.output import counted, json_option, note, print_json, say, table
from mcp_memory.cli.session import Session
from mcp_memory.engine.learning import (
    BETAS,
    BLEND,
    GAMMAS,
    MIN_EVENTS,
    Comparison,
    Tuned,
    TuningData,
    TuningResult,
    Weights,
)


class Numbers(click.ParamType[tuple[float, ...]]):
    """Numbers separated by commas."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers: write them as 0.1,0.5,1", param, ctx)


@click.command(short_help="Learn from past searches how much usage should count.")
@click.option("--analyze", is_flag=True, help="Show how much there is to learn from (the default).")
@click.option("--tune", "learn", is_flag=True, help="Adjust the weights to past searches.")
@click.option("--set-gamma", type=float, metavar="X", help="Set how much co-occurrence counts.")
@click.option("--set-beta", type=float, metavar="X", help="Set how much importance counts.")
@click.option(
    "--min-events", default=MIN_EVENTS, show_default=True, help="Searches with feedback needed to tune."
)
@click.option(
    "--blend",
    default=BLEND,
    show_default=True,
    help="Share of the distance to the best weights that one tuning moves.",
)
@click.option("--gamma-range", type=Numbers(), default=GAMMAS, metavar="X,Y,…", help="Gammas to try.")
@click.option("--beta-range", type=Numbers(), default=BETAS, metavar="X,Y,…", help="Betas to try.")
@json_option
@click.pass_obj
def tune(
    session: Session,
    analyze: bool,
    learn: bool,
    set_gamma: float | None,
    set_beta: float | None,
    min_events: int,
    blend: float,
    gamma_range: tuple[float, ...],
    beta_range: tuple[float, ...],
    as_json: bool,
) -> None:
    """Learn from past searches how much usage should count in ranking entities.

    Running servers use the new weights at once. Weights belong to a space.
    """
    wants_setting = set_gamma is not None or set_beta is not None
    if analyze + learn + wants_setting > 1:
        raise click.UsageError("give one of --analyze, --tune, and --set-gamma or --set-beta")
    learning = session.engine.learning
    if wants_setting:
        _show_weights(learning.set_weights(gamma=set_gamma, beta_sal=set_beta), as_json)
    elif learn:
        _show_tuned(learning.tune(min_events, blend, gammas=gamma_range, betas=beta_range), as_json)
    else:
        _show_analysis(learning.analyze(min_events), as_json)


@click.command(short_help="Compare the ranking with plain cosine.")
@json_option
@click.pass_obj
def metrics(session: Session, as_json: bool) -> None:
    """Compare the ranking with plain cosine, judged by what clients did with the results."""
    compared = session.engine.learning.metrics()
    if as_json:
        print_json(compared)
    else:
        _show_comparison(compared)


def _show_weights(weights: Weights, as_json: bool) -> None:
    if as_json:
        print_json(weights)
    else:
        say(f"Weights in use: {_both(weights)}.")


def _show_analysis(analysis: TuningData, as_json: bool) -> None:
    if as_json:
        print_json(analysis)
        return
    log = analysis.log
    say(f"Weights in use: {_both(analysis.weights)}.")
    say(f"{counted(log.searches, 'search', 'searches')} logged, {log.judged:,} of them with feedback.")
    rows = [("feedback", name, count) for name, count in log.by_sign.items()]
    rows += [("strategy", name, count) for name, count in log.by_strategy.items()]
    if rows:
        table(("kind", "name", "count"), rows)
    if analysis.missing:
        searches = counted(analysis.missing, "more search", "more searches")
        note(f"Tuning needs {searches} with feedback ({analysis.needed:,} in all).")
    else:
        note("There is enough to learn from: mcp-memory tune --tune")


def _show_tuned(tuned: Tuned, as_json: bool) -> None:
    if as_json:
        print_json(tuned)
        return
    say("Moved the weights." if tuned.applied else f"Left the weights as they are: {tuned.reason}.")
    trials = (
        ("in use before", tuned.before),
        ("best of the grid", tuned.target),
        ("in use now", tuned.after),
    )
    learnt, held_out = f"NDCG@{tuned.k} learnt from", f"NDCG@{tuned.k} held out"
    table(("weights", "gamma", "beta", learnt, held_out), [_row(name, trial) for name, trial in trials])
    note(f"{tuned.training_searches:,} searches to learn from, {tuned.held_out_searches:,} held out.")


def _show_comparison(compared: Comparison) -> None:
    limbic, cosine = compared.limbic, compared.cosine
    rows = [(f"NDCG@{k}", limbic.ndcg[k], cosine.ndcg[k]) for k in limbic.ndcg]
    rows += [(f"Lift@{k}", limbic.lift[k], cosine.lift[k]) for k in limbic.lift]
    rows.append(("MRR", limbic.mrr, cosine.mrr))
    if compared.searches:
        table(("metric", "limbic", "cosine alone"), rows)
    note(f"Over {counted(compared.searches, 'search', 'searches')} with feedback.")


def _row(name: str, trial: TuningResult) -> tuple[str, float, float, float, float]:
    weights = trial.weights
    return name, weights.gamma, weights.beta_sal, trial.training_ndcg, trial.held_out_ndcg


def _both(weights: Weights) -> str:
    return f"gamma {weights.gamma:.4g}, beta {weights.beta_sal:.4g}"
