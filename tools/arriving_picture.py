"""Draws docs/images/arriving.svg: a real session of Claude Code, and what reached the model in it.

    python -m tools.arriving_picture

Claude Code runs in print mode in a home of its own, connected with `mcp-memory install`, against a model on
loopback that records its requests. What is shown is the person's prompt, the block that the recorded request
holds, and the client's own output.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from tests.clients.fake_model import Model, fake_model
from tools.assistants import HomeWithModel, why_not

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "arriving.svg"
MEMORIES = (
    ("Never deploy on Fridays: nobody is there on Saturday.", "preference"),
    ("We chose SQLite for the label queue, because the warehouse works offline.", "decision"),
    ("The staging database runs on db-stg-2, port 5433.", "observation"),
)
TURNS = (
    ("Which port does the staging database listen on?", "It listens on port 5433 of db-stg-2."),
    ("What is the capital of Australia?", "Canberra."),
    ("Our cluster is called walrus and runs in Ghent.", "Noted."),
)
BLOCK = re.compile(r"<mcp-memory .*?</mcp-memory>", re.DOTALL)
TRIES = 5


class Person(HomeWithModel):
    def asks(self, prompt: str) -> str:
        return self.run("claude", "-p", prompt, "--model", "claude-sonnet-4-5").stdout.strip()


def main() -> None:
    reason = why_not()
    if reason:
        raise SystemExit(reason)
    with (
        fake_model() as (address, model),
        tempfile.TemporaryDirectory(prefix="pic", ignore_cleanup_errors=True) as folder,
    ):
        person = Person(Path(folder), address)
        (person.folder / ".claude").mkdir()
        person.run("mcp-memory", "install", "--yes", "claude-code")
        for content, type in MEMORIES:
            person.run("mcp-memory", "remember", content, "--type", type)
        try:
            draw(
                [(prompt, *_turn(person, model, prompt, reply)) for prompt, reply in TURNS], _captured(person)
            )
        finally:
            person.leave()
    print(f"{PICTURE} was written")


def _turn(person: Person, model: Model, prompt: str, reply: str) -> tuple[list[str], str]:
    """What was injected into the request, and what the client printed."""
    model.script = [{"text": reply}]
    for _ in range(TRIES):
        model.requests.clear()
        said = person.asks(prompt)
        blocks = _blocks(model.requests)
        if blocks:  # a hook that a busy machine delays by more than 300 ms says nothing
            break
    return blocks, said


def _blocks(requests: list[Any]) -> list[str]:
    texts = [text for request in requests[:1] for text in _texts(request.get("messages", []))]
    return list(dict.fromkeys(block for text in texts for block in BLOCK.findall(text)))


def _texts(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for child in children for text in _texts(child)]


def _captured(person: Person) -> list[str]:
    found = json.loads(person.run("mcp-memory", "captured", "--json").stdout)
    return [f"{one['content']}  ({one['metadata']['capture']['rule']})" for one in found]


def draw(turns: list[tuple[str, list[str], str]], captured: list[str]) -> None:
    console = Console(record=True, width=112, file=io.StringIO())
    for prompt, blocks, said in turns:
        console.print(Text(f'$ claude -p "{prompt}"', style="bold"))
        for block in blocks:
            console.print(Text(_shortened(block), style="cyan"))
        console.print(Text(said))
        console.print()
    console.print(Text("$ mcp-memory captured", style="bold"))
    for one in captured:
        console.print(Text(one))
    PICTURE.write_text(console.export_svg(title="Claude Code; blue: what reached the model"), "utf-8")


def _shortened(block: str) -> str:
    """Ids are long, and the same from line to line."""
    return re.sub(r"\[id ([0-9a-f]{8})[0-9a-f-]*\]", r"[id \1…]", block)


if __name__ == "__main__":
    main()
