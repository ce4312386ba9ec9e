"""Claude's memories, from a data export: prose about the person and each project."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_memory.engine.importers.records import Record, entity, memory, observation
from mcp_memory.engine.importers.sample import Sample

SOURCE = "claude"
MEMORIES = ("memories.json", "memories/*.json")
_HEADING = re.compile(r"^(?:#+\s*(.+?)|\*\*(.+?)\*\*:?)\s*$")


def recognises(sample: Sample) -> bool:
    return any(_accounts(document) for document in sample.documents(*MEMORIES))


def records(sample: Sample) -> Iterator[Record]:
    names = dict(_project_names(sample))
    for document in sample.documents(*MEMORIES):
        for account in _accounts(document):
            yield from _about_the_person(account, sample)
            for id, text in (account.get("project_memories") or {}).items():
                yield from _about_a_project(names.get(id, f"Claude project {id}"), str(text), sample)


def _accounts(document: Any) -> list[Mapping[str, Any]]:
    accounts = document if isinstance(document, list) else [document]
    return [one for one in accounts if isinstance(one, dict) and "conversations_memory" in one]


def _project_names(sample: Sample) -> Iterator[tuple[str, str]]:
    if not (sample.is_folder or sample.is_zip):
        return
    for document in sample.documents("projects.json", "projects/*.json"):
        for one in document if isinstance(document, list) else [document]:
            if isinstance(one, dict) and one.get("uuid") and one.get("name"):
                yield str(one["uuid"]), str(one["name"])


def _about_the_person(account: Mapping[str, Any], sample: Sample) -> Iterator[Record]:
    for topic, text in paragraphs(str(account["conversations_memory"] or "")):
        yield memory(text, at=sample.changed_at, source=SOURCE, tags=[topic] if topic else ())


def _about_a_project(name: str, text: str, sample: Sample) -> Iterator[Record]:
    project = entity(name, at=sample.changed_at, type="project")
    kept = [
        memory(
            part,
            at=sample.changed_at,
            key=name,
            source=SOURCE,
            tags=[topic] if topic else (),
            of_an_entity=True,
        )
        for topic, part in paragraphs(text)
    ]
    if kept:
        yield from kept
        yield project
        yield from (observation(project, one) for one in kept)


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Each paragraph or list item, with the heading above it in small letters."""
    topic = ""
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*] )", text):
        lines = [line for line in block.strip().splitlines() if line.strip()]
        if lines and (heading := _HEADING.match(lines[0].strip())):
            topic = (heading[1] or heading[2]).strip(" :*").lower()
            lines = lines[1:]
        content = " ".join(line.strip().removeprefix("- ").removeprefix("* ") for line in lines).strip()
        if content:
            yield topic, content
