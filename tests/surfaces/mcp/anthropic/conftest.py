"""Every test here runs against Anthropic's own memory server and against ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.surfaces.mcp.anthropic.servers import (
    Graph,
    ServerName,
    Starter,
    official_predates_2,
    official_version,
    why_official_is_missing,
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "since_2(instead): promised by release 2.0.0 of the official server; what earlier ones do instead",
    )


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="session", params=["official", "ours"])
def server(request: pytest.FixtureRequest) -> ServerName:
    if request.param == "official" and (reason := why_official_is_missing()):
        pytest.skip(reason)
    return cast(ServerName, request.param)


@pytest.fixture(autouse=True)
def _promised(request: pytest.FixtureRequest, server: ServerName) -> None:
    newer = request.node.get_closest_marker("since_2")
    if newer and server == "official" and official_predates_2():
        pytest.skip(f"release {official_version()} of the official server {newer.args[0]}; 2.0.0 does not")


@pytest.fixture
def starter(server: ServerName, tmp_path: Path, portal: BlockingPortal) -> Starter:
    """For tests that look at the file, or need a server of their own."""
    return Starter(server, tmp_path, portal)


@pytest.fixture(scope="session")
def running(
    server: ServerName, tmp_path_factory: pytest.TempPathFactory, portal: BlockingPortal
) -> Iterator[Graph]:
    with Starter(server, tmp_path_factory.mktemp(server), portal).start() as graph:
        yield graph


@pytest.fixture
def memory(running: Graph) -> Graph:
    """A server that knows nothing yet; one process serves all tests that only use tools."""
    running.clear()
    return running
