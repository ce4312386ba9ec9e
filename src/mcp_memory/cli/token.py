"""Makes, lists and revokes tokens for HTTP."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.output import json_option, note, print_json, say, table
from mcp_memory.cli.session import Session
from mcp_memory.model import EVERY_SPACE, Rights, Token


@click.group()
def token() -> None:
    """Who may come in over HTTP."""


@token.command()
@click.argument("name")
@click.option("--space", "spaces", multiple=True, help="A space it is for; the current one unless given.")
@click.option("--all-spaces", is_flag=True, help="It is for every space.")
@click.option("--read-only", is_flag=True, help="It may only read.")
@json_option
@click.pass_obj
def create(
    session: Session, name: str, spaces: tuple[str, ...], all_spaces: bool, read_only: bool, as_json: bool
) -> None:
    """Make a token; its secret is shown once."""
    rights: Rights = "read" if read_only else "write"
    made, secret = session.engine.access.create_token(
        name, spaces=(EVERY_SPACE,) if all_spaces else spaces, rights=rights
    )
    if as_json:
        print_json({**_shown(made), "secret": secret})
        return
    click.echo(secret)
    note("Keep it: it is not shown again. Callers send `Authorization: Bearer SECRET`.")


@token.command(name="list")
@json_option
@click.pass_obj
def list_(session: Session, as_json: bool) -> None:
    """Show all tokens, without their secrets."""
    found = [_shown(item) for item in session.engine.access.tokens()]
    if as_json:
        print_json(found)
    else:
        table(
            ["name", "spaces", "rights", "created"],
            [[item["name"], ", ".join(item["spaces"]), item["rights"], item["created_at"]] for item in found],
        )


@token.command()
@click.argument("name")
@click.pass_obj
def revoke(session: Session, name: str) -> None:
    """Make a token useless at once."""
    session.engine.access.revoke_token(name)
    say(f"Revoked {name}.")


def _shown(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "spaces": list(token.spaces),
        "rights": token.rights,
        "created_at": token.created_at.isoformat(),
    }
