"""Commands for HTTP tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.output import json_option, note, print_json, say, table
from mcp_memory.cli.session import Session
from mcp_memory.config import MOST_DAYS
from mcp_memory.model import EVERY_SPACE, Rights, Token


@click.group(cls=SuggestingGroup)
def token() -> None:
    """Tokens for access over HTTP."""


@token.command()
@click.argument("name")
@click.option(
    "--space", "spaces", multiple=True, help="A space it is valid for (default: the current one); repeat."
)
@click.option("--all-spaces", is_flag=True, help="Valid for every space.")
@click.option("--read-only", is_flag=True, help="Allow reading only.")
@click.option("--expires", "days", type=click.FloatRange(0, MOST_DAYS), help="Days until it expires.")
@json_option
@click.pass_obj
def create(
    session: Session,
    name: str,
    spaces: tuple[str, ...],
    all_spaces: bool,
    read_only: bool,
    days: float | None,
    as_json: bool,
) -> None:
    """Create a token. Its secret is shown once."""
    rights: Rights = "read" if read_only else "write"
    made, secret = session.engine.access.create_token(
        name,
        spaces=(EVERY_SPACE,) if all_spaces else spaces,
        rights=rights,
        lifetime=None if days is None else timedelta(days=days),
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
        table(["name", "spaces", "rights", "created", "expires"], [_row(item) for item in found])


@token.command()
@click.argument("name")
@click.pass_obj
def revoke(session: Session, name: str) -> None:
    """Revoke a token at once."""
    session.engine.access.revoke_token(name)
    say(f"Revoked {name}.")


@token.command(name="none")
@click.pass_obj
def none_(session: Session) -> None:
    """Stop requiring a token from programs on this machine, after all tokens are revoked."""
    session.engine.access.stop_asking_for_tokens()
    say("Programs on this machine need no token now.")


def _shown(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "spaces": list(token.spaces),
        "rights": token.rights,
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at.isoformat() if token.expires_at else None,
    }


def _row(shown: dict[str, Any]) -> list[str]:
    expires = shown["expires_at"] or "never"
    return [shown["name"], ", ".join(shown["spaces"]), shown["rights"], shown["created_at"], expires]
