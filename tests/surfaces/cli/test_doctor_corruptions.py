"""The doctor reports every damage with what to do, and repairs what can be repaired."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from mcp_memory.storage import queries
from mcp_memory.storage.sqlite.database import AT_ONCE_BYTES
from tests.faults.released_schemas import put_sample, version_of
from tests.surfaces.cli.shell import Shell

PAGE = 4096
MODEL = (
    "INSERT INTO embedding_model (name, dimensions, fingerprint, state, created_at)"
    " VALUES ('m', 8, 'f', 'active', '2026-01-01T00:00:00.000000+00:00');"
    "INSERT INTO vector (model_id, owner, seq, space_id, embedding)"
    " SELECT 1, 'memory', seq, space_id, zeroblob(8) FROM memory;"
    "INSERT INTO vector (model_id, owner, seq, space_id, embedding)"
    " SELECT 1, 'entity', seq, space_id, zeroblob(8) FROM entity;"
    "DELETE FROM pending;"
)
SKETCH = (
    MODEL + "INSERT INTO vector_sketch VALUES (1, 'memory', 1, 99, 3);"
    "INSERT INTO vector_segment (model_id, owner, space_id, ids, codes)"
    " VALUES (1, 'memory', 1, zeroblob(24), zeroblob(3));"
)


@dataclass(frozen=True)
class Damage:
    make: Callable[[Path], None]
    subjects: str
    """Any of them reports it, separated by `|`."""
    repaired: bool = False


def sql(statements: str) -> Callable[[Path], None]:
    def run(file: Path) -> None:
        connection = apsw.Connection(str(file))
        connection.execute("PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON;" + statements)
        connection.close()

    return run


def root_page(file: Path, name: str) -> int:
    connection = apsw.Connection(str(file))
    try:
        [[page]] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
        return int(page)
    finally:
        connection.close()


def flipped(name: str) -> Callable[[Path], None]:
    """Bytes in the cells of a table or an index are other than they were."""

    def flip(file: Path) -> None:
        content = bytearray(file.read_bytes())
        end = root_page(file, name) * PAGE
        for place in range(end - 60, end):
            content[place] ^= 0xFF
        file.write_bytes(content)

    return flip


def blanked(name: str) -> Callable[[Path], None]:
    def blank(file: Path) -> None:
        content = bytearray(file.read_bytes())
        end = root_page(file, name) * PAGE
        content[end - PAGE : end] = bytes(PAGE)
        file.write_bytes(content)

    return blank


def in_text(file: Path) -> None:
    """One letter of a stored text, in the table and nowhere else."""
    content = file.read_bytes()
    assert b"likes strong tea" in content
    file.write_bytes(content.replace(b"likes strong tea", b"likes string tea"))


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2 // PAGE * PAGE)


def cut_in_a_page(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1000)


def header(file: Path) -> None:
    file.write_bytes(b"SQLite is gone!!" + file.read_bytes()[16:])


def free_list(file: Path) -> None:
    """The header counts free pages that are none."""
    content = bytearray(file.read_bytes())
    content[32:40] = (3).to_bytes(4, "big") + (7).to_bytes(4, "big")
    file.write_bytes(content)


def lost_log(file: Path) -> None:
    """Half of a change was moved into the file, and the log with the rest is lost."""
    content = bytearray(file.read_bytes())
    grown = bytes(content)
    sql(
        "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 500)"
        " INSERT INTO space (name, created_at) SELECT hex(randomblob(20)), '2026' FROM n"
    )(file)
    after = file.read_bytes()
    pages = [after[at : at + PAGE] for at in range(0, len(after), PAGE)]
    before = [grown[at : at + PAGE] for at in range(0, len(grown), PAGE)]
    changed = [n for n in range(1, len(before)) if pages[n] != before[n]]
    for n in changed[::2]:
        pages[n] = before[n]
    file.write_bytes(b"".join(pages[: len(before)]))


DAMAGES = {
    "bytes of a table page": Damage(flipped("memory"), "integrity|database|rows|texts"),
    "bytes of an index page": Damage(flipped("memory_type"), "integrity|database", repaired=True),
    "bytes of another index": Damage(flipped("entity_order"), "integrity|database", repaired=True),
    "a blank table page": Damage(blanked("entity"), "integrity|database"),
    "a blank index page": Damage(blanked("event_change"), "integrity|database"),
    "a letter of a text": Damage(in_text, "texts|words of memories", repaired=True),
    "half of the file": Damage(truncated, "integrity|database"),
    "a torn last page": Damage(cut_in_a_page, "integrity|database"),
    "the file's header": Damage(header, "database"),
    "the list of free pages": Damage(free_list, "integrity|database"),
    "a log lost half way": Damage(lost_log, "integrity|database|rows|references|numbers"),
    "another program's mark": Damage(sql("PRAGMA application_id = 7"), "schema"),
    "a version from the future": Damage(sql("PRAGMA user_version = 9999"), "schema"),
    "a version from the past": Damage(sql("PRAGMA user_version = 3"), "tables", repaired=True),
    "a missing table": Damage(sql("DROP TABLE memory_version"), "tables"),
    "a missing derived table": Damage(sql("DROP TABLE shared_words"), "tables", repaired=True),
    "a missing index": Damage(sql("DROP INDEX memory_same"), "tables", repaired=True),
    "observations of no entity": Damage(sql("DELETE FROM entity"), "references", repaired=True),
    "tags of no memory": Damage(
        sql("INSERT INTO memory_tag VALUES (1, 'x', 4711)"), "references|tags", repaired=True
    ),
    "rows of no space": Damage(sql("DELETE FROM space"), "references", repaired=True),
    "a tag that is not noted": Damage(sql("DELETE FROM memory_tag"), "tags", repaired=True),
    "a row without words": Damage(
        sql("DELETE FROM shared_words WHERE owner = 'memory' AND seq = 1"), "words of memories", repaired=True
    ),
    "words of no row": Damage(
        sql("INSERT INTO shared_words VALUES ('entity', 1, 999, 'a', '', 1)"),
        "words of entities",
        repaired=True,
    ),
    "words of another text": Damage(
        sql("UPDATE shared_words SET body = 'other words'"), "words of memories", repaired=True
    ),
    "a vector of a wrong length": Damage(
        sql(MODEL + "UPDATE vector SET embedding = zeroblob(5) WHERE id = 1"), "vectors kept", repaired=True
    ),
    "a vector that is nowhere": Damage(
        sql(MODEL + "DELETE FROM vector WHERE id = 1"), "vectors kept", repaired=True
    ),
    "a vector of no row": Damage(
        sql(MODEL + "UPDATE vector SET seq = 4711 WHERE id = 1"), "vectors kept", repaired=True
    ),
    "a sketch with too few codes": Damage(
        sql(SKETCH + "UPDATE vector_segment SET codes = zeroblob(2)"), "sketches", repaired=True
    ),
    "a sketch that counts wrong": Damage(
        sql(SKETCH + "UPDATE vector_sketch SET entry_count = 9"), "sketches", repaired=True
    ),
    "numbers that are given out again": Damage(
        sql("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'event'"), "numbers", repaired=True
    ),
    "a negative count": Damage(sql("UPDATE memory SET access_count = -5"), "numbers", repaired=True),
    "JSON that is none": Damage(sql("UPDATE memory SET metadata = '{\"a\":'"), "rows", repaired=True),
    "JSON of another shape": Damage(sql("UPDATE memory SET tags = '\"abc\"'"), "rows", repaired=True),
    "a time that is none": Damage(sql("UPDATE memory SET updated_at = 'soon'"), "rows", repaired=True),
    "a time beyond all years": Damage(
        sql("UPDATE memory SET updated_at = 9223372036854775807"), "rows", repaired=True
    ),
    "a time as text": Damage(
        sql("UPDATE memory SET updated_at = '2026-01-01T10:00:00.000000+00:00'"), "rows", repaired=True
    ),
    "a setting that cannot be read": Damage(
        sql("INSERT INTO setting VALUES ('k', 'nonsense')"), "rows", repaired=True
    ),
    "a word for a number": Damage(sql("UPDATE memory SET access_count = 'often'"), "rows", repaired=True),
    "bytes for a count of use": Damage(
        sql("INSERT INTO entity_access VALUES (1, x'00', 1767225600000000)"),
        "rows",
        repaired=True,
    ),
    "somebody's trigger": Damage(
        sql("CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM memory; END"), "tables", repaired=True
    ),
    "a reflection about nothing": Damage(
        sql(
            "INSERT INTO reflection (space_id, id, target_type, target_seq, author, content, created_at)"
            " VALUES (1, 'r', 'relation', 4711, 'a', 'wise words', 1767225600000000)"
        ),
        "reflections",
        repaired=True,
    ),
    "a memory that supersedes itself": Damage(
        sql("UPDATE memory SET superseded_by = id, superseded_at = created_at WHERE seq = 1"),
        "superseded",
        repaired=True,
    ),
    "an event of an unknown kind": Damage(sql("UPDATE event SET name = 'forged'"), "journal"),
    "a date in the far future": Damage(sql("UPDATE memory SET created_at = 253339228800000000"), "dates"),
    "an emptied digest of a token": Damage(
        sql(
            "INSERT INTO token (name, digest, spaces, rights, created_at)"
            " VALUES ('t', '', '[\"default\"]', 'read', 1767225600000000)"
        ),
        "tokens",
    ),
    "somebody's table": Damage(sql("CREATE TABLE notes (text)"), "other tables"),
    "two rows of one id": Damage(
        sql("DROP INDEX memory_same;UPDATE memory SET content_hash = 'same'"),
        "tables|integrity|texts|database",
    ),
}


@pytest.fixture
def lived_in(shell: Shell) -> Shell:
    shell.run("entities", "create", "Ana", "-o", "likes strong tea", "-o", "lives in Lyon")
    shell.run("remember", "the harbour opens at seven", "--tag", "port")
    # Everything is in the file itself, so that damage done to it is not covered by the log.
    connection = apsw.Connection(str(shell.file))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return shell


def problems(shell: Shell, *options: str, exit_code: int) -> dict[str, str]:
    found = shell.json("doctor", *options, exit_code=exit_code)
    return {one["subject"]: one["advice"] for one in found if not one["is_well"]}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_reported_and_repaired_where_it_can_be(lived_in: Shell, name: str) -> None:
    damage = DAMAGES[name]
    assert not problems(lived_in, exit_code=0)
    damage.make(lived_in.file)
    found = problems(lived_in, exit_code=1)
    assert found.keys() & set(damage.subjects.split("|")), found
    assert all(found.values()), "each says what to do"
    if damage.repaired:
        assert not problems(lived_in, "--repair", exit_code=0)
        space = "recovered-1" if name == "rows of no space" else "default"
        names = lived_in.run("entities", "list", environment={"MCP_MEMORY_SPACE": space}).stdout
        assert "Ana" in names or name == "observations of no entity"


def test_at_least_twenty_four_damages_are_tried() -> None:
    assert len(DAMAGES) >= 24


def test_a_large_file_of_an_earlier_release_is_migrated_and_then_repaired(shell: Shell) -> None:
    put_sample(f"sqlite:///{shell.file}", 13)
    sql("UPDATE memory SET updated_at = 'soon' WHERE seq = 2")(shell.file)
    sql(f"INSERT INTO setting VALUES ('padding', '[\"{'x' * AT_ONCE_BYTES}\"]')")(shell.file)
    told = shell.run("doctor", "--repair", exit_code=0)
    assert "The database was migrated to this release." in told.stderr
    assert version_of(f"sqlite:///{shell.file}") == queries.migrations("sqlite")[-1].number
    assert not problems(shell, exit_code=0)
