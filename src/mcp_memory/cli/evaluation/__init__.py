"""The command that measures the quality of recall."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import get_args

import click

from mcp_memory.cli.evaluation.dataset import Dataset, Grain, read_folder, read_longmemeval
from mcp_memory.cli.evaluation.report import Row, as_svg, cells
from mcp_memory.cli.evaluation.report import as_json as rows_as_json
from mcp_memory.cli.evaluation.trial import WAYS, EvalTrial, load
from mcp_memory.cli.output import json_option, note, print_json, table
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.errors import Invalid
from mcp_memory.tuning import SIGNALS

COLUMNS = ("way", "recall@5", "recall@10", "recall@20", "any@5", "all@5", "MRR", "nDCG@10")


@click.command("eval")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--memories", default="memories.jsonl", show_default=True, help="The file of memories in PATH.")
@click.option("--way", "ways", multiple=True, type=click.Choice(tuple(WAYS)), help="Only these ways.")
@click.option("--dates", type=click.Choice(("both", "true", "frozen")), default="both", show_default=True,
              help="Store each memory at its own date, or all at the same time.")  # fmt: skip
@click.option("--after", "days", multiple=True, type=click.FloatRange(0), default=(1, 90), show_default=True,
              help="With true dates: ask this many days later.")  # fmt: skip
@click.option("--ablate", is_flag=True, help="Also leave out each signal in turn.")
@click.option("--longmemeval", "grain", type=click.Choice(get_args(Grain)),
              help="PATH is a file of LongMemEval; one memory for each turn or session.")  # fmt: skip
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write recall@10 as SVG.")
@click.option("--cache", type=click.Path(file_okay=False, path_type=Path), help="Keep loaded databases here.")
@json_option
@click.pass_obj
def evaluate(
    session: Session,
    path: Path,
    memories: str,
    ways: tuple[str, ...],
    dates: str,
    days: tuple[float, ...],
    ablate: bool,
    grain: Grain | None,
    plot: Path | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Measure how well recall finds what answers your questions.

    PATH is a folder with memories.jsonl (id, text, and perhaps created_at, tags, group) and queries.jsonl
    (text, relevant, and perhaps group, category, as_of). Your own database is not touched.
    """
    if plot is not None and not plot.resolve().parent.is_dir():
        raise Invalid(f"there is no folder {plot.parent} for the picture: make it first")
    if grain is None and not path.is_dir():
        raise Invalid(f"{path} is a file: give the folder it is in, or `--longmemeval turn` for that format")
    if grain is not None and not path.is_file():
        raise Invalid(f"{path} is a folder: give the file of LongMemEval in it")
    dataset = read_longmemeval(path, grain) if grain else read_folder(path, memories)
    rows: list[Row] = []
    for true_dates in {"both": (False, True), "true": (True,), "frozen": (False,)}[dates]:
        trial = _loaded(session, dataset, cache or _default_cache(), true_dates=true_dates)
        with closing(trial.context.store):
            rows += _rows(trial, ways or tuple(WAYS), days if true_dates else (), ablate)
    if plot is not None:
        bars = {row.label: row.mean.recall_10 for row in rows}
        plot.write_text(as_svg(bars, f"{dataset.name}: recall@10"), "utf-8")
    if as_json:
        print_json({"dataset": dataset.name, "rows": rows_as_json(rows, dataset.questions)})
        return
    note(f"{dataset.name}: {len(dataset.memories):,} memories, {len(dataset.questions):,} questions, percent")
    table(COLUMNS, ((row.label, *cells(row.mean)) for row in rows), empty="No questions.")
    categories = sorted({question.category for question in dataset.questions})
    if len(categories) > 1:
        table(("recall@10 of", *categories), (_by_category(row, dataset) for row in rows), empty="")


def _rows(trial: EvalTrial, ways: Sequence[str], days: Sequence[float], ablate: bool) -> Iterator[Row]:
    times = [timedelta(days=count) for count in days] or [timedelta(0)]
    for way in ways:
        for after in times:
            when = f", {_days(after)} later" if trial.true_dates else ", frozen"
            yield Row(way + when, trial.scores(way, after=after))
    if ablate:
        for signal in SIGNALS:
            when = ", true dates" if trial.true_dates else ", frozen"
            yield Row(
                f"hybrid without {signal}{when}", trial.scores("hybrid", after=times[0], without=[signal])
            )


def _loaded(session: Session, dataset: Dataset, cache: Path, *, true_dates: bool) -> EvalTrial:
    from mcp_memory.storage import Store
    from mcp_memory.storage.sqlite.database import SqliteDatabase
    from mcp_memory.wiring import embedder

    cache.mkdir(parents=True, exist_ok=True)
    with Bar("things") as bar:
        return load(
            dataset,
            embedder(session.config),
            lambda file: Store(SqliteDatabase(file, "NORMAL")).open(),
            cache,
            true_dates=true_dates,
            progress=lambda done, total: bar.file("loading", done, total),
        )


def _days(time: timedelta) -> str:
    count = time / timedelta(days=1)
    return f"{count:g} day" + ("" if count == 1 else "s")


def _default_cache() -> Path:
    return Path(tempfile.gettempdir()) / "mcp-memory-eval"


def _by_category(row: Row, dataset: Dataset) -> list[str]:
    scores = row.by_category(dataset.questions).values()
    return [row.label, *(f"{100 * score.recall_10:.1f}" for score in scores)]
