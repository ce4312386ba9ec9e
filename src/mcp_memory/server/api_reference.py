"""The OpenAPI document as one page that needs nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Document = Mapping[str, Any]

_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1.25rem; }
h2 { margin-top: 2.5rem; text-transform: capitalize; }
details { border-top: 1px solid var(--line); padding: .45rem 0; }
summary { cursor: pointer; }
summary b { display: inline-block; width: 4.5rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
td, th { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; text-align: left; }
td, th { vertical-align: top; }
"""


def page(document: Document) -> str:
    """Every operation, by its tag."""
    info = document["info"]
    return "\n".join(
        [
            "<!doctype html><html lang=en><meta charset=utf-8>",
            '<meta name=viewport content="width=device-width, initial-scale=1">',
            f"<title>{escape(info['title'])}: REST API</title><style>{_STYLE}</style>",
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
            f"<p>{escape(info['description'])}</p>",
            '<p>For programs: <a href="/openapi.json">/openapi.json</a></p>',
            *_sections(document),
        ]
    )


def _sections(document: Document) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            [tag] = operation["tags"]
            by_tag.setdefault(tag, []).append("".join(_operation(document, method, path, operation)))
    for tag, shown in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>"
        yield from shown


def _operation(document: Document, method: str, path: str, operation: Document) -> Iterator[str]:
    said, _, more = operation.get("description", operation["summary"]).partition("\n")
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> {escape(said)}</summary>"
    if more.strip():
        yield f"<p>{escape(more.strip())}</p>"
    yield from _table("Parameters", [_parameter(one) for one in operation.get("parameters", ())])
    content = operation.get("requestBody", {}).get("content", {})
    for media_type, body in content.items():
        yield from _table(f"Body ({media_type})", _fields(document, body["schema"]))
    answers = operation["responses"].items()
    yield from _table("Answers", [(status, "", answer["description"]) for status, answer in answers])
    yield "</details>"


def _table(title: str, rows: list[tuple[str, str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"<table><tr><th colspan=3>{escape(title)}</th></tr>"
    for name, kind, meaning in rows:
        yield f"<tr><td><code>{escape(name)}</code><td>{escape(kind)}<td>{escape(meaning)}</tr>"
    yield "</table>"


def _parameter(parameter: Document) -> tuple[str, str, str]:
    where = f"{parameter['in']}, required" if parameter.get("required") else parameter["in"]
    return parameter["name"], f"{_kind(parameter['schema'])} ({where})", parameter.get("description", "")


def _fields(document: Document, schema: Document) -> list[tuple[str, str, str]]:
    name = schema.get("$ref", "").rpartition("/")[2]
    shape = document["components"]["schemas"][name] if name else schema
    needed = shape.get("required", ())
    return [
        (field, _kind(one) + (", required" if field in needed else ""), one.get("description", ""))
        for field, one in shape.get("properties", {}).items()
    ]


def _kind(schema: Document) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    kind = str(schema.get("format") or schema.get("type") or schema.get("$ref", "any").rpartition("/")[2])
    return f"{kind}, {schema['default']} unless given" if schema.get("default") not in (None, "") else kind
