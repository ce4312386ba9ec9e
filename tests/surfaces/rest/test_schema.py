"""The app keeps what its own OpenAPI document promises, whatever it is sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import PATIENCE, running

EXAMPLES = 8
STREAMS = ("/api/events", "/api/export", "/api/import", "/api/import/preview")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
Ids = Callable[[str], str | None]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_documented(tmp_path: Path, mode: GenerationMode) -> None:
    """With requests that make sense, about things that are there, and with requests that do not."""
    with running(engine_on(tmp_path / "memory.db")) as server, server.client() as client:
        document: Any = schemathesis.openapi.from_url(f"{server.url}/openapi.json", timeout=PATIENCE)
        operations = [result.ok() for result in document.get_all_operations()]
        ids = _fresh_ids(client) if mode is GenerationMode.POSITIVE else lambda path: None
        for operation in operations:
            if operation.path not in STREAMS:
                # What takes nothing cannot be asked wrongly.
                with suppress(Unsatisfiable):
                    _try(operation, mode, ids)
    assert len(operations) > 50


def _try(operation: Any, mode: GenerationMode, ids: Ids) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def keeps_its_promise(case: Any) -> None:
        id = ids(operation.path) if "id" in (case.path_parameters or {}) else None
        if id is not None:
            case.path_parameters["id"] = id
        case.call_and_validate(checks=CHECKS, timeout=PATIENCE)

    keeps_its_promise()


def _fresh_ids(client: httpx.Client) -> Ids:
    """Makes something that a path can be about."""
    numbers = count(1)

    def fresh(path: str) -> str | None:
        number = next(numbers)
        resource = path.split("/")[2]
        resource = "memories" if resource == "captured" else resource
        body = {
            "memories": {"content": f"thing number {number}", "metadata": {"number": number}},
            "entities": {"name": f"e{number}", "entity_type": "thing", "observations": [f"o{number}", "o"]},
            "relations": {"source": f"s{number}", "target": f"t{number}", "relation_type": "r"},
            "reflections": {"target_type": "global", "content": f"thought {number}"},
        }[resource]
        made: str = client.post(f"/api/{resource}", json=body).json()["id"]
        return made

    return fresh


def test_the_document_names_its_operations_in_plain_words(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    ids = [one["operationId"] for one in operations]
    assert len(set(ids)) == len(ids)
    assert {"create_memory", "search_memories", "get_entity_graph", "follow_events"} <= set(ids)
    assert all(one["description"] and len(one["tags"]) == 1 for one in operations)
    assert document["servers"][0]["url"] == "/"
