"""Credentials are found in text, and what only looks like one is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_memory.text.secrets import HIDDEN, find_secrets, redacted

SECRETS = [
    ("my key is AKIAIOSFODNN7EXAMPLE", "AWS key"),
    ("token ghp_16C7e42F292c6912E7710c838347Ae178B4a", "GitHub token"),
    ("the wifi password is Blue-Horse-42", "named secret"),
    ("password = hunter2", "named secret"),
    ("la contraseña es Gato123", "named secret"),
    ("the PIN is 4711", "named secret"),
    ("export OPENAI_API_KEY=abcd1234efgh", "named secret"),
    ("sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "API key"),
    ("postgres://ann:p4ss@host/db", "password in an address"),
    ("Authorization: Bearer abcdefghijklmnop123456", "authorization header"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef", "JSON web token"),
    ("das Passwort für den Router lautet Kq7!mPx2", "described secret"),
    ("PGPASSWORD=abcXYZ12 psql -h db", "named secret"),
    ("credentials: ann:Summer2026!", "named secret"),
    ("postgres://ann:p@ss@host/db", "password in an address"),
    ("SECRET_KEY = 'insecure-x3j$k2l)m9[,;'", "named secret"),
    ("пароль: Kq7mPx2z", "named secret"),
    ("密码是 Kq7mPx2z", "named secret"),
    ("パスワードは Kq7mPx2z です", "named secret"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private key"),
]  # fmt: skip

HARMLESS = [
    "the token is rotated every 90 days",
    "uuid 0195e3f2-1c2d-7abc-8def-0123456789ab",
    "commit 3e42af5c34e508d35cabb454f1a3470a1ba9a05654",
    "API_KEY=${API_KEY}",
    '{"password": "[hidden]"}',
    "nextToken: none",
    "密码是必须的",
    "La clave es la paciencia",
    "key point: the secret is timing",
    "max_token: 4096",
    "the password is stored in the vault",
    "Ann prefers tea at 16:30",
    "see https://example.com/a:b/c",
    "a basic understanding of basic helix-loop-helix proteins",
    "self.password_hash = generate_password_hash(password)",
    "the password policy for admins is NIST-800-63",
    "the token limit of the model is 128k",
    "the api key for maps is in config/maps.yaml",
]


@pytest.mark.parametrize(("text", "kind"), SECRETS)
def test_a_credential_is_found_and_hidden(text: str, kind: str) -> None:
    [secret] = find_secrets(text)
    assert secret.kind == kind
    value = text[secret.start : secret.end]
    assert value not in redacted(text)
    assert HIDDEN in redacted(text)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgres://ann:p@ss@host/db", "postgres://ann:[redacted]@host/db"),
        ("KEY_SECRET = 'x3j$k2l)m9[,;'", "KEY_SECRET = '[redacted]'"),
    ],
)
def test_no_rest_of_a_credential_stays(text: str, hidden: str) -> None:
    assert redacted(text) == hidden


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redacted(text) == text


def test_redacting_twice_changes_nothing_more() -> None:
    for text, _ in SECRETS:
        assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize("file", ["secrets.jsonl", "secrets_2.jsonl"])
def test_judged_examples_are_told_apart(file: str) -> None:
    """131 and 60 texts by authors who had not read the rules; docs/security.md has the figures before."""
    lines = (Path(__file__).parents[1] / "data" / file).read_text(encoding="utf-8").splitlines()
    examples = [json.loads(line) for line in lines]
    hidden = [one for one in examples if one["secret"] and one["value"] not in redacted(one["text"])]
    wrong = [one for one in examples if not one["secret"] and redacted(one["text"]) != one["text"]]
    secrets = [one for one in examples if one["secret"]]
    assert len(hidden) / len(secrets) >= 0.95
    assert len(hidden) / (len(hidden) + len(wrong)) >= 0.97
