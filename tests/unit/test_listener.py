"""The socket and lock of the shared server change hands."""

import os
import sys
from pathlib import Path

import pytest

from mcp_memory.server.shared.listener import AlreadyRunning, Listener
from mcp_memory.thin.endpoint import Endpoint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets to inspect")


@pytest.fixture
def endpoint(tmp_path: Path) -> Endpoint:
    return Endpoint(str(tmp_path / "run"), "here")


def test_only_one_process_holds_the_endpoint(endpoint: Endpoint) -> None:
    first = Listener(endpoint)
    with first.take(0):
        with pytest.raises(AlreadyRunning):
            Listener(endpoint).take(0)
        first.give_up()
    with Listener(endpoint).take(0):
        pass


def test_giving_up_twice_leaves_the_successors_socket_alone(endpoint: Endpoint) -> None:
    # File systems hand out an inode again at once, so the successor's socket looks like the first.
    for _ in range(20):
        first, successor = Listener(endpoint), Listener(endpoint)
        first.take(0).close()
        first.give_up()
        with successor.take(0):
            first.give_up()
            assert successor.is_held()
            successor.give_up()


def test_it_is_taken_again_after_its_folder_was_removed(endpoint: Endpoint) -> None:
    holder = Listener(endpoint)
    with holder.take(0):
        os.unlink(endpoint.address)
        os.unlink(endpoint.file("lock"))
        assert not holder.is_held()
        with holder.take_again():
            assert holder.is_held()
            with pytest.raises(AlreadyRunning):
                Listener(endpoint).take(0)
            holder.give_up()
