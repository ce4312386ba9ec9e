"""Every setting there is, with its default and what it is for.

Settings come from flags, then the environment, then the settings file, then the defaults.
In the environment a setting is known by its name in capitals; the same name with
`MCP_MEMORY_` before it wins, for when another program claims the short one.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from mcp_memory.errors import Invalid

PREFIX = "MCP_MEMORY_"
TOOL_SETS = ("graph", "memory", "agent", "anthropic")
LOG_LEVELS = ("debug", "info", "warning", "error")


def _setting(
    default: Any,
    help: str,
    *,
    choices: Sequence[str] = (),
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
) -> Any:
    metadata = {"help": help, "choices": tuple(choices), "low": low, "high": high, "secret": secret}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Config:
    database_url: str = _setting(
        "",
        "Where memories live: `sqlite:///path` or `postgresql://…`. Default: a file in the data folder.",
    )
    database_backend: str = _setting(
        "", "`sqlite` or `postgres`; follows from the URL when not given.", choices=("", "sqlite", "postgres")
    )
    database_read_url: str = _setting("", "A PostgreSQL replica that reads may go to.")
    durability: str = _setting(
        "full",
        "SQLite: `full` keeps every acknowledged write through a power cut, `normal` may lose the last.",
        choices=("full", "normal"),
    )
    space: str = _setting(
        "default", "Which space to work in: a person, a project or a client, apart from all others."
    )
    tools: str = _setting(
        "graph,memory,agent",
        "Tool sets to offer: any of `graph`, `memory`, `agent`, or `anthropic` alone.",
    )
    memory_file_path: str = _setting(
        "", "With the anthropic tool set: the JSONL file to share with Anthropic's memory server."
    )
    embedding_provider: str = _setting(
        "local", "What makes vectors: `local`, `openai` (any compatible endpoint) or `none`.",
        choices=("local", "openai", "none"),
    )  # fmt: skip
    embedding_model: str = _setting("all-MiniLM-L6-v2", "The name of the sentence model.")
    embedding_dimensions: int = _setting(
        0, "How long its vectors are; 0 takes what the model makes (384 by default).", low=0
    )
    openai_api_key: str = _setting(
        "", "The key for the endpoint, when the provider is `openai`.", secret=True
    )
    openai_base_url: str = _setting("", "The endpoint, when it is not OpenAI's own.")
    models_dir: str = _setting("", "Where pulled models are kept. Default: the platform's cache folder.")
    confidence_half_life_days: float = _setting(
        30.0, "Days until the confidence of an unused memory halves.", low=0.001
    )
    confidence_prune_threshold: float = _setting(
        0.05, "Memories below this effective confidence are pruned.", low=0, high=1
    )
    prune_limit: int = _setting(1000, "How many memories one pruning run may remove at most.", low=0)
    consolidation_threshold: float = _setting(
        0.85, "How similar memories must be to be consolidated.", low=0, high=1
    )
    consolidation_interval: int = _setting(
        50, "New memories between two automatic consolidations; 0 turns it off.", low=0
    )
    search_default_limit: int = _setting(
        20, "How many results a search returns unless it says.", low=1, high=100
    )
    search_min_similarity: float = _setting(
        0.5, "The least cosine of a purely semantic result.", low=-1, high=1
    )
    hybrid_keyword_weight: float = _setting(
        0.4, "What words count in a hybrid search; meaning counts the rest.", low=0, high=1
    )
    max_entities: int = _setting(50, "Entities in one call.", low=1)
    max_observations: int = _setting(100, "Observations per entity in one call.", low=1)
    max_observation_length: int = _setting(2000, "Characters in one observation.", low=1)
    max_query_length: int = _setting(500, "Characters in one query.", low=1)
    max_content_bytes: int = _setting(50_000, "Bytes in one memory.", low=1)
    trash_days: float = _setting(30.0, "Days during which a change can be undone.", low=0)
    api_host: str = _setting("127.0.0.1", "The address the HTTP server listens on.")
    api_port: int = _setting(3333, "The port the HTTP server listens on.", low=0, high=65535)
    api_token: str = _setting(
        "", "A token that HTTP callers must show; needed beyond this machine.", secret=True
    )
    workers: int = _setting(4, "How many requests are worked on at once.", low=1, high=64)
    log_level: str = _setting("info", "How much is logged, to standard error.", choices=LOG_LEVELS)

    @property
    def url(self) -> str:
        """The database, with the default filled in."""
        return self.database_url or f"sqlite:///{default_database()}"

    @property
    def tool_sets(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.tools.split(",") if name.strip())


def default_database() -> Path:
    return Path(platformdirs.user_data_dir("mcp-memory", appauthor=False)) / "memory.db"


def default_models_dir() -> Path:
    return Path(platformdirs.user_cache_dir("mcp-memory", appauthor=False)) / "models"


def default_cache_dir() -> Path:
    return Path(platformdirs.user_cache_dir("mcp-memory", appauthor=False))


def default_file() -> Path:
    return Path(platformdirs.user_config_dir("mcp-memory", appauthor=False)) / "config.toml"


def environment() -> Mapping[str, str]:
    """The environment of this process; nothing else reads it."""
    return os.environ


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Config:
    """Settings from flags, the environment, a file and the defaults, in that order. Raises `Invalid`."""
    environ = environment() if environ is None else environ
    given = _from_file(file, environ) | _from_environment(environ)
    given |= {name: value for name, value in (flags or {}).items() if value is not None}
    known = {setting.name: setting for setting in fields(Config)}
    for name in given:
        if name not in known:
            raise Invalid(f"there is no setting {name!r}.{_suggestion(name, known)}")
    config = Config(**{name: _value(known[name], value) for name, value in given.items()})
    _check(config)
    return config


def sqlite_path(url: str) -> Path:
    """`sqlite:///memory.db` is relative to the working folder, `sqlite:////data/memory.db` is not."""
    path = url.removeprefix("sqlite://")
    if not url.startswith("sqlite://") or path in ("", "/"):
        raise Invalid(f"{url!r} names no file: write sqlite:///memory.db or sqlite:////full/path/memory.db")
    path = path.removeprefix("/")
    return Path(path).expanduser()


def is_postgres(url: str) -> bool:
    return url.startswith(("postgres://", "postgresql://"))


def _from_file(file: Path | None, environ: Mapping[str, str]) -> dict[str, Any]:
    named = file or (Path(environ[f"{PREFIX}CONFIG"]) if environ.get(f"{PREFIX}CONFIG") else None)
    path = named or default_file()
    try:
        with path.expanduser().open("rb") as opened:
            return dict(tomllib.load(opened))
    except FileNotFoundError:
        if named:
            raise Invalid(f"the settings file {path} does not exist") from None
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"the settings file {path} cannot be read: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    names = [setting.name for setting in fields(Config)]
    found = {
        name: environ[name.upper()]
        for name in names
        if name not in _ONLY_PREFIXED and environ.get(name.upper())
    }
    for variable, value in environ.items():
        if not variable.startswith(PREFIX) or variable == f"{PREFIX}CONFIG" or not value:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in names:
            raise Invalid(f"there is no setting {variable}.{_suggestion(name, names, prefix=PREFIX)}")
        found[name] = value
    return found


# Too common as names of other programs' variables to be read without our prefix.
_ONLY_PREFIXED = frozenset({"tools", "space", "workers", "durability", "models_dir"})


def _suggestion(name: str, known: Sequence[str] | Mapping[str, Any], prefix: str = "") -> str:
    close = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    if not close:
        return " `mcp-memory settings` lists them all."
    return f" Did you mean {prefix + close[0].upper() if prefix else close[0]!r}?".replace("'", "")


def _value(setting: Any, value: Any) -> Any:
    default = setting.default if setting.default is not MISSING else ""
    try:
        if isinstance(default, int) and not isinstance(default, bool):
            converted: Any = int(value)
        elif isinstance(default, float):
            converted = float(value)
        else:
            converted = str(value)
    except ValueError:
        raise Invalid(f"{setting.name.upper()} must be a number, not {value!r}") from None
    low, high, choices = (setting.metadata[key] for key in ("low", "high", "choices"))
    if choices and converted.lower() not in choices:
        raise Invalid(
            f"{setting.name.upper()} must be one of {', '.join(filter(None, choices))}, not {value!r}"
        )
    if choices:
        converted = converted.lower()
    if (low is not None and not converted >= low) or (high is not None and not converted <= high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise Invalid(f"{setting.name.upper()} must be {bounds}, not {value}")
    return converted


def _check(config: Config) -> None:
    for name in config.tool_sets:
        if name not in TOOL_SETS:
            known = ", ".join(TOOL_SETS)
            raise Invalid(f"there is no tool set {name!r}.{_suggestion(name, TOOL_SETS)} There are {known}.")
    if not config.tool_sets:
        raise Invalid(f"name at least one tool set: {', '.join(TOOL_SETS)}")
    if "anthropic" in config.tool_sets and len(config.tool_sets) > 1:
        raise Invalid("the anthropic tool set stands alone: its tools share names with the others'")
    if config.database_backend == "postgres" and not is_postgres(config.url):
        raise Invalid(
            "DATABASE_BACKEND is postgres: set DATABASE_URL to postgresql://user:password@host/database"
        )
    if config.database_backend == "sqlite" and is_postgres(config.url):
        raise Invalid(
            "DATABASE_BACKEND is sqlite, but DATABASE_URL is a PostgreSQL address: change one of them"
        )
    if not is_postgres(config.url):
        sqlite_path(config.url)
