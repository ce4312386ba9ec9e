"""Finds credentials in text: keys, tokens, passwords, private keys.

The maintained Python library (detect-secrets) reads source code line by line, knows few of today's providers
and no passwords in prose, and some of its patterns take quadratic time. So the patterns are here: each is
linear, and names what it finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HIDDEN = "[redacted]"
MOST_SECRETS = 100
"""Most secrets that are reported for one text; all are redacted."""

_VALUE = r"[^\s\"'`,;<>()\[\]]"
_QUOTED = r"[^\s\"'`]"
_GIVEN = rf"(?P<quote>[\"'`])?(?P<value>(?:(?(quote){_QUOTED}|{_VALUE})){{4,500}})"
"""A value, which may have brackets and commas where it is in quotes."""
_PASSWORD = (
    r"password|passwd|passphrase|passcode|pwd|pw|contraseñ?a|contrasena|clave(?: secreta| de acceso)?"
    r"|pa(?:ss|ß)wort|kennwort|mot de passe|mdp|senha|wachtwoord|пароль|密码|密碼|パスワード|비밀번호"
)
_SECRET_WORD = (
    rf"{_PASSWORD}|pass|secret|secret[ _-]key|api[ _-]?key|apikey|access[ _-]?key"
    r"|private[ _-]key|(?:auth|access|refresh)[ _-]?token|client[ _-]secret|token|credentials?|pin"
)
_IS = (
    r"(?:=|:=|:|：|->|=>|是|は|\b(?:is|was|es|era|ist|war|lautet|est|é)\b|\bit[’']?s\b|\bc[’']est\b)"
    r"(?:\s(?:now|ahora|jetzt))?"
)
_TOPICS = (
    r"polic|length|manager|file|field|hash|limit|count|reset|rotation|form|prompt|column|store|vault|generator"
    r"|format|rule|type|size|budget|bucket|usage|lifetime|endpoint|expir|rota|caduca"
)
"""Words after which the sentence is not about a secret: "the password policy for …"."""

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END).){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?",
            re.DOTALL,
        ),
    ),
    ("age key", re.compile(r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,70}\b")),
    ("API key", re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_])?[A-Za-z0-9][A-Za-z0-9_-]{15,250}")),
    ("GitHub token", re.compile(r"\bgh[pousr]_[A-Za-z0-9_]{16,255}|\bgithub_pat_\w{20,255}")),
    ("GitLab token", re.compile(r"\bgl(?:pat|dt|ft|soat|rt|cbt|ptt|imt|agent)-[A-Za-z0-9_-]{16,100}")),
    ("Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,200}|\bxapp-[A-Za-z0-9-]{10,200}")),
    ("webhook", re.compile(r"hooks\.slack\.com/(?:services|workflows)/[\w/]{10,200}"
                           r"|discord(?:app)?\.com/api/webhooks/\d{5,30}/[\w-]{10,200}")),
    ("AWS key", re.compile(r"\b(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("Google key", re.compile(
        r"\bAIza[A-Za-z0-9_-]{30,40}|\bya29\.[A-Za-z0-9_-]{20,500}|\bGOCSPX-[\w-]{20,60}"
    )),
    ("Azure key", re.compile(r"\bAccountKey=[A-Za-z0-9+/]{60,100}={0,2}")),
    ("registry token", re.compile(
        r"\b(?:npm|hf|dckr_pat|shpat|shpss|lin_api|figd|sntrys|dop_v1|glsa|pscale_tkn|tskey)[_-][A-Za-z0-9_-]{16,200}"
        r"|\bpypi-AgE[A-Za-z0-9_-]{16,300}"
        r"|\bSG\.[\w-]{16,40}\.[\w-]{16,60}"
        r"|\bwhsec_[A-Za-z0-9+/=]{16,100}"
    )),
    ("JSON web token", re.compile(
        r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,2000})?"
    )),
    ("bot token", re.compile(
        r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,35}\b|\b[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,45}"
    )),
    ("service token", re.compile(
        r"\bhv[sbr]\.[\w-]{20,300}|\bdapi[0-9a-f]{32}\b|\bkey-[0-9a-f]{32}\b|\bpat\w{14}\.[0-9a-f]{64}\b"
        r"|\b(?:sbp|rpa|nvapi|xai|gsk|fc|tvly|pplx|r8|ghu|glc|phc|phx|sntryu|dp\.pt|atlasv1)[._-][A-Za-z0-9_.-]{24,200}"
    )),
    ("password of a command", re.compile(
        r"\bsshpass\s{1,3}-p\s{0,3}[\"']?(?P<value>[^\s\"']{3,200})"
    )),
    ("password of a command", re.compile(
        r"\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;]{0,200}?\s-p(?P<value>[^\s\"']{3,200})"
    )),
    ("password of a command", re.compile(
        r"\b(?:curl|wget|http)\b[^\n|;]{0,200}?\s(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"']{1,100}:"
        r"(?P<value>[^\s\"']{3,200})"
    )),
    ("password in an address", re.compile(r"(?<=://)[^\s/:@]{0,100}:(?P<value>[^\s/]{1,200})(?=@)")),
    ("authorization header", re.compile(
        r"(?i)\b(?:bearer|basic)\s{1,5}(?P<value>[A-Za-z0-9._~+/=-]{12,2000})"
    )),
    ("named secret", re.compile(
        rf"(?i)(?<![A-Za-z])(?:[\w-]{{0,30}}[_-])?(?P<word>{_SECRET_WORD})(?:[_-][\w-]{{0,30}})?[\"'`]?\s{{0,3}}"
        rf"{_IS}\s{{0,3}}{_GIVEN}"
    )),
    # PGPASSWORD=…, dbPassword: …
    ("named secret", re.compile(
        rf"(?i)(?<![A-Za-z])[A-Za-z]{{1,20}}(?P<word>password|passwd|passphrase|secret|token|apikey)[\"'`]?\s{{0,3}}"
        rf"[=:]\s{{0,3}}{_GIVEN}"
    )),
    # "the wifi password at the cabin is …": some words between, so what follows has to look like a secret.
    ("described secret", re.compile(
        rf"(?i)(?<![^\W_])(?P<word>{_SECRET_WORD})s?\b(?![\s_-]{{0,2}}(?:{_TOPICS}))"
        rf"(?:[,\s]{{1,2}}[^\s\"'`=:,]{{1,30}}){{1,7}}?,?\s{{0,2}}{_IS}\s{{1,3}}[\"'`]?(?P<value>{_VALUE}{{4,500}})"
    )),
    # "with password …", "password …" in a .netrc: nothing between.
    ("described secret", re.compile(
        rf"(?i)(?<![^\W_])(?P<word>{_PASSWORD})\s{{1,3}}[\"'`]?(?P<value>{_VALUE}{{6,500}})"
    )),
    ("passphrase", re.compile(
        rf"(?i)(?<![^\W_])(?:{_PASSWORD})\b(?![\s_-]{{0,2}}(?:{_TOPICS}))"
        rf"[^\"“\n.]{{0,60}}?{_IS}\s{{1,3}}[\"“](?P<value>[^\"”\n]{{4,200}})"
    )),
)  # fmt: skip

_LETTERS = re.compile(r"[^\W\d_]+(?:[-'’.][^\W\d_]+)*[.!?…:]*")
_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$\{?\w+\}?.*|<.*|\{\{.*|%\w+%?|\*+|x{3,}|\.{3,}|•+|…+|your[-_ ].*|my[-_]\w+[-_]here|example.*"
    r"|changeme|password|passwd|pass|pwd|pw|secret|none|null|true|false|required|optional|undefined|env[.:(].*|os\..*|process\.env.*"
    r"|\[\w+\].*)$"
)
_CODE = re.compile(r"(?=[a-z_.]*(?:pass|token|secret|key|hash|cred))[a-z]+(?:[._][a-z]+)+$")
"""A name in source code: `password_hash = password_hash`."""
_PLAIN_VALUE = re.compile(
    r"(?i)^(?:https?:|/|~/|\.{1,2}/|\d+(?:[a-z]{1,2}|[-_ ]?(?:char|digit|day|byte|bit|min|hour|sec)\w*)?$"
    r"|[a-z]+-\d{1,4}$|v\d|\w+\.(?:ya?ml|json|toml|ini|env|txt|md|py|js|ts|go|sh|cfg|conf|pem|db)\b)"
)
"""Addresses, paths, amounts, versions and names of files."""
_SYMBOLS = frozenset("!@#$%^&*_+=?~|")


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a text holds a credential, and of which kind it is."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """The credentials in a text, in order, without overlap."""
    found: list[Secret] = []
    for secret in sorted(_all(text), key=lambda one: (one.start, -one.end)):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


def redacted(text: str) -> str:
    """The text with every credential replaced by `[redacted]`."""
    pieces, place = [], 0
    for secret in find_secrets(text):
        pieces += [text[place : secret.start], HIDDEN]
        place = secret.end
    return "".join([*pieces, text[place:]])


def _all(text: str) -> Iterator[Secret]:
    for kind, pattern in _PATTERNS:
        named = "value" in pattern.groupindex
        for match in pattern.finditer(text):
            if named and _is_ordinary(kind, match):
                continue
            start, end = match.span("value") if named else match.span()
            yield Secret(kind, start, end)


def _is_ordinary(kind: str, match: re.Match[str]) -> bool:
    """Whether the value is a plain word or a placeholder: "the token is rotated"."""
    value = match["value"]
    if _PLACEHOLDER.match(value):
        return True
    if kind == "described secret":
        return not _looks_secret(value.rstrip(".,!?"), match["word"].lower())
    if kind == "authorization header":
        return bool(_LETTERS.fullmatch(value))  # "basic understanding"
    if kind != "named secret":
        return False
    if _CODE.match(value) or match.string[match.end() : match.end() + 1] == "(":
        return True
    counted = "token" in match["word"].lower() and value.strip(".").isdigit()  # max_token: 4096
    return counted or (bool(_LETTERS.fullmatch(value)) and len(value) < 20)


def _looks_secret(value: str, word: str) -> bool:
    """Whether a value looks unlike any plain word, number, date, path or address."""
    if word == "pin":
        return value.isdigit() and len(value) <= 8
    if _PLAIN_VALUE.match(value):
        return False
    letters = any(character.isalpha() for character in value)
    return letters and any(character.isdigit() or character in _SYMBOLS for character in value)
