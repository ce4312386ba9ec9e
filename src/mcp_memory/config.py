"""Every setting, with its default and its help text.

Precedence: command-line flag, environment variable, settings file, default. The environment variable is the
name in capitals; the same name with the prefix `MCP_MEMORY_` takes precedence, in case another program uses
the short one.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import platformdirs

from mcp_memory.errors import Invalid
from mcp_memory.model import DEFAULT_SPACE, checked_space
from mcp_memory.tuning import QUARANTINED_ORIGINS, Fading, Limits, Tuning

PREFIX = "MCP_MEMORY_"
ALL_SETS = ("graph", "memory", "agent")
TOOL_SETS = ("essentials", *ALL_SETS, "anthropic")
LOG_LEVELS = ("debug", "info", "warning", "error")
MOST_DAYS = 36_500


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
    # A secret must not end up in a log through the config's repr.
    return field(default=default, metadata=metadata, repr=not secret)


_LIMITS, _TUNING = Limits(), Tuning()


def _days(duration: timedelta) -> float:
    return duration / timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Config:
    database_url: str = _setting(
        "",
        "The database: `sqlite:///path` or `postgresql://…`. Default: a file in the data folder.",
    )
    database_backend: str = _setting(
        "", "`sqlite` or `postgres`. Default: as the URL says.", choices=("", "sqlite", "postgres")
    )
    database_read_url: str = _setting("", "A PostgreSQL replica to read from.")
    durability: str = _setting(
        "full",
        "SQLite: `full` keeps every acknowledged write through a power cut; `normal` is faster and may lose "
        "the last ones.",
        choices=("full", "normal"),
    )
    space: str = _setting(
        DEFAULT_SPACE, "The space to work in. A space is a person, project or client that sees no other."
    )
    read_spaces: str = _setting(
        "",
        "Further spaces that searches look into, separated by commas, such as a team's beside one's own. "
        "What is written goes to `space` alone.",
    )
    tools: str = _setting(
        "essentials",
        "Tool sets to offer: `essentials`, any of `graph`, `memory`, `agent`, `all` of these three, or "
        "`anthropic` alone.",
    )
    memory_file_path: str = _setting(
        "", "With the anthropic tool set: the JSONL file to share with Anthropic's memory server."
    )
    embedding_provider: str = _setting(
        "local", "What computes embeddings: `local`, `openai` (any compatible endpoint) or `none`.",
        choices=("local", "openai", "none"),
    )  # fmt: skip
    embedding_model: str = _setting(
        "",
        "The embedding model's name. Default: `all-MiniLM-L6-v2`, or `text-embedding-3-small` with the "
        "`openai` provider.",
    )
    embedding_dimensions: int = _setting(
        0, "Dimensions of its vectors; 0 takes the model's own (384, or OpenAI's 1536).", low=0
    )
    openai_api_key: str = _setting("", "API key for the `openai` provider.", secret=True)
    openai_base_url: str = _setting("", "Endpoint for the `openai` provider, if it is not OpenAI's own.")
    models_dir: str = _setting("", "Where models are kept. Default: the platform's cache folder.")
    confidence_half_life_days: float = _setting(
        _days(_TUNING.half_life),
        "Days until the confidence of an unused memory halves.",
        low=0.001,
        high=MOST_DAYS,
    )
    confidence_prune_threshold: float = _setting(
        _TUNING.prune_threshold, "Memories below this effective confidence are pruned.", low=0, high=1
    )
    prune_limit: int = _setting(
        _TUNING.prune_limit, "Most memories that one pruning run archives or deletes.", low=0
    )
    prune_mode: str = _setting(
        _TUNING.prune_mode,
        "What pruning does to a faded memory: `archive` hides it until it is restored, `delete` deletes it.",
        choices=("archive", "delete"),
    )
    secrets: str = _setting(
        _TUNING.secrets,
        "Credentials in what is stored: `allow` only warns, `redact` hides them, `refuse` stores nothing.",
        choices=("allow", "redact", "refuse"),
    )
    capture_secrets: str = _setting(
        _TUNING.captured_secrets,
        "The same for what is captured from conversations.",
        choices=("allow", "redact", "refuse"),
    )
    quarantine: str = _setting(
        "",
        "Origins whose memories are found on request and never injected: any of `import`, `web`, `tool`.",
    )
    consolidation_threshold: float = _setting(
        _TUNING.consolidation_threshold,
        "Cosine similarity above which memories are consolidated.",
        low=0,
        high=1,
    )
    consolidation_interval: int = _setting(
        _TUNING.consolidation_interval,
        "New memories after which a consolidation runs; 0: only the scheduled ones.",
        low=0,
    )
    consolidation_every: float = _setting(
        _days(_TUNING.consolidation_every),
        "Days between two scheduled consolidations; 0 turns them off.",
        low=0,
        high=MOST_DAYS,
    )
    prune_every: float = _setting(
        _days(_TUNING.prune_every), "Days between two prunings; 0 turns them off.", low=0, high=MOST_DAYS
    )
    search_default_limit: int = _setting(
        _TUNING.search_limit, "Results of a search that sets no limit.", low=1, high=100
    )
    search_min_similarity: float = _setting(
        _TUNING.min_similarity, "Lowest cosine similarity of a semantic result.", low=-1, high=1
    )
    search_fading: str = _setting(
        _TUNING.fading,
        "How `recall_memories` and REST searches treat faded memories unless a call says: `strict` "
        "multiplies scores by confidence, `gentle` takes off a tenth at most and hides nothing.",
        choices=get_args(Fading),
    )
    hybrid_keyword_weight: float = _setting(
        _TUNING.keyword_weight, "Weight of keywords in a hybrid search; the rest is meaning.", low=0, high=1
    )
    max_entities: int = _setting(_LIMITS.entities, "Entities in one call.", low=1)
    max_observations: int = _setting(_LIMITS.observations, "Observations per entity in one call.", low=1)
    max_observation_length: int = _setting(
        _LIMITS.observation_length, "Characters in one observation.", low=1
    )
    max_query_length: int = _setting(
        _LIMITS.query_length,
        "Characters in a query of `search_nodes`, `search_semantic` and `search_reflections`.",
        low=1,
    )
    max_content_bytes: int = _setting(_LIMITS.content_bytes, "Bytes in one memory.", low=1)
    backup_dir: str = _setting("", "Where backups go. Default: a folder beside the database.")
    backup_every_days: float = _setting(
        1.0, "Days between two backups made by the server; 0 makes none. SQLite only.", low=0, high=MOST_DAYS
    )
    backup_keep: int = _setting(7, "Backups that are kept; the oldest go first.", low=1)
    backup_limit_bytes: int = _setting(
        4_000_000_000, "Bytes that all backups may take together; the newest is always kept.", low=0
    )
    passphrase: str = _setting("", "Encrypts backups and exports, in the age format.", secret=True)
    trash_days: float = _setting(
        _days(_TUNING.trash), "Days during which a change can be undone.", low=0, high=MOST_DAYS
    )
    journal_days: float = _setting(
        _days(_TUNING.journal),
        "Days that the history of changes is kept; never fewer than TRASH_DAYS.",
        low=0,
        high=MOST_DAYS,
    )
    idempotency_hours: float = _setting(
        _TUNING.answers / timedelta(hours=1),
        "Hours during which a request that is sent again is not done again.",
        low=0,
        high=MOST_DAYS * 24,
    )
    search_log_days: float = _setting(
        _days(_TUNING.search_log_age),
        "Days that searches are logged, for the ranking to learn from.",
        low=0,
        high=MOST_DAYS,
    )
    search_log_size: int = _setting(_TUNING.search_log_size, "Searches logged per space; 0 logs none.", low=0)
    use_ab_testing: str = _setting(
        "no",
        "`yes`: answer a share of the queries of `search_semantic` by cosine alone, to measure the ranking "
        "without its own bias. Both rankings of every search are logged in any case.",
        choices=("no", "yes"),
    )
    baseline_probability: float = _setting(
        _TUNING.baseline_probability,
        "The share of queries that USE_AB_TESTING answers by cosine alone.",
        low=0,
        high=1,
    )
    api_host: str = _setting("127.0.0.1", "Address the HTTP server listens on.")
    api_port: int = _setting(3333, "Port the HTTP server listens on.", low=0, high=65535)
    api_token: str = _setting(
        "", "Token that HTTP clients must send; required to listen beyond this machine.", secret=True
    )
    api_allowed_hosts: str = _setting(
        "", "Host names the HTTP server answers to besides this machine's own, separated by commas."
    )
    api_allowed_origins: str = _setting(
        "", "Web origins, as `https://name`, that may call the HTTP server, separated by commas."
    )
    api_rate_limit: int = _setting(
        -1,
        "HTTP requests per minute and client; 0 sets no limit, -1 means 1,200 for clients with a token or "
        "from other machines and no limit for others.",
        low=-1,
    )
    api_body_limit: int = _setting(4_194_304, "Bytes in the body of one HTTP request.", low=1024)
    import_dir: str = _setting(
        "", "A folder whose files callers over HTTP may import by path; without it they may import none."
    )
    api_import_limit: int = _setting(268_435_456, "Bytes in one file that is imported over HTTP.", low=1024)
    reflection_author: str = _setting(
        _TUNING.author, "Author of a reflection that names none. Default: the client's name."
    )
    workers: int = _setting(4, "Requests handled at the same time.", low=1, high=64)
    log_level: str = _setting("info", "Lowest level that is logged, to standard error.", choices=LOG_LEVELS)
    shared: str = _setting(
        "auto",
        "One server for all of a person's assistants: `auto` where that can be, `no` for a process each, "
        "`loopback` with a port of this machine in place of a Unix socket.",
        choices=("auto", "no", "loopback"),
    )
    shared_idle: float = _setting(
        300.0, "Seconds without a client after which the shared server ends.", low=0
    )
    runtime_dir: str = _setting(
        "",
        "The shared server's socket. Default: in the platform's runtime folder, or the cache folder.",
    )
    http: str = _setting(
        "no", "Whether an assistant's server on stdio serves HTTP too: `yes` or `no`.", choices=("no", "yes")
    )

    @property
    def url(self) -> str:
        """The database URL, with the default filled in."""
        return self.database_url or f"sqlite:///{default_database()}"

    @property
    def database_file(self) -> Path | None:
        """The database's file; None if it is a server. Raises `Invalid` for a URL of neither."""
        return None if _is_postgres(self.url) else sqlite_path(self.url)

    @property
    def quarantined_origins(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.quarantine.split(",") if name.strip())

    @property
    def further_spaces(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.read_spaces.split(",") if name.strip())

    @property
    def tool_sets(self) -> tuple[str, ...]:
        named = [name.strip() for name in self.tools.split(",") if name.strip()]
        return tuple(one for name in named for one in (ALL_SETS if name == "all" else (name,)))


def default_database() -> Path:
    return Path(platformdirs.user_data_dir("mcp-memory", appauthor=False)) / "memory.db"


def default_models_dir() -> Path:
    return Path(platformdirs.user_cache_dir("mcp-memory", appauthor=False)) / "models"


def default_cache_dir() -> Path:
    return Path(platformdirs.user_cache_dir("mcp-memory", appauthor=False))


def default_file() -> Path:
    return Path(platformdirs.user_config_dir("mcp-memory", appauthor=False)) / "config.toml"


def environment() -> Mapping[str, str]:
    """The environment of this process. No other module reads it."""
    return os.environ


@dataclass(frozen=True, slots=True)
class Given:
    """A value given for a setting, and where it was given."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting's value, the source of that value, and the help text."""

    name: str
    value: Any
    source: str
    help: str
    secret: bool

    @property
    def variable(self) -> str:
        """The shortest environment variable that sets it."""
        return f"{PREFIX if self.name in _ONLY_PREFIXED else ''}{self.name.upper()}"

    @property
    def shown(self) -> str:
        """The value as text, secrets masked."""
        if self.secret:
            return "•••" if self.value else ""
        return masked(str(self.value))


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Config:
    """Settings from flags, the environment, a file and the defaults, in that order. Raises `Invalid`."""
    return _config(_given(flags, environ, file))


def of(values: Mapping[str, Any]) -> Config:
    """Settings from these values and the defaults alone. Raises `Invalid`."""
    return _config({name: Given(value, "argument") for name, value in values.items()})


def explain(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> list[Setting]:
    """Every setting with its source, as `load` would resolve it."""
    given = _given(flags, environ, file)
    config = _config(given)
    return [
        Setting(
            field.name,
            config.url if field.name == "database_url" else getattr(config, field.name),
            given[field.name].source if field.name in given else "default",
            field.metadata["help"],
            field.metadata["secret"],
        )
        for field in fields(Config)
    ]


def masked(url: str) -> str:
    """A database URL with its password masked, in the user part or in a parameter."""
    without = re.sub(r"(?<=://)([^/@:]*):.*@", r"\1:•••@", url)
    return re.sub(r"((?:^|[?&\s])(?:ssl)?password\s*=\s*)('[^']*'|[^&\s]*)", r"\1•••", without)


def sqlite_path(url: str) -> Path:
    """The file of a SQLite URL: `sqlite:///memory.db` is relative, `sqlite:////data/memory.db` absolute."""
    path = url.removeprefix("sqlite://").removeprefix("/")
    if "://" not in url:
        if "=" in url:  # libpq's other form, which may hold a password
            raise Invalid("DATABASE_URL must be an address: write postgresql://user:password@host/database")
        raise Invalid(f"DATABASE_URL must be an address, not {url!r}: write sqlite:///{url}")
    if not url.startswith("sqlite://"):
        raise Invalid(
            f"DATABASE_URL must begin with sqlite:/// or postgresql://, not {masked(url).partition('://')[0]}://"
        )
    if path in ("", ":memory:"):
        raise Invalid(f"{url} names no file: write sqlite:///memory.db or sqlite:////full/path/memory.db")
    return Path(path).expanduser()


def _is_postgres(url: str) -> bool:
    return url.startswith(("postgres://", "postgresql://"))


def _given(
    flags: Mapping[str, Any] | None, environ: Mapping[str, str] | None, file: Path | None
) -> dict[str, Given]:
    environ = environment() if environ is None else environ
    from_flags = {name: Given(value, "flag") for name, value in (flags or {}).items() if value is not None}
    return {**_from_file(file, environ), **_from_environment(environ), **from_flags}


def _config(given: Mapping[str, Given]) -> Config:
    known = {field.name: field for field in fields(Config)}
    for name, one in given.items():
        if name not in known:
            raise Invalid(f"there is no setting {name!r} ({one.source}).{_suggestion(name, known)}")
    config = Config(**{name: _value(known[name], one.value) for name, one in given.items()})
    _check(config)
    return config


def _from_file(file: Path | None, environ: Mapping[str, str]) -> dict[str, Given]:
    named = file or (Path(environ[f"{PREFIX}CONFIG"]) if environ.get(f"{PREFIX}CONFIG") else None)
    path = (named or default_file()).expanduser()
    try:
        with path.open("rb") as opened:
            return {name: Given(value, str(path)) for name, value in tomllib.load(opened).items()}
    except FileNotFoundError:
        if named:
            raise Invalid(f"the settings file {path} does not exist") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"the settings file {path} cannot be read: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    names = [field.name for field in fields(Config)]
    found = {
        name: Given(environ[name.upper()], name.upper())
        for name in names
        if name not in _ONLY_PREFIXED and environ.get(name.upper())
    }
    for variable, value in environ.items():
        if not variable.startswith(PREFIX) or variable == f"{PREFIX}CONFIG" or not value:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in names:
            raise Invalid(f"there is no setting {variable}.{_suggestion(name, names, PREFIX)}")
        found[name] = Given(value, variable)
    return found


# Names so common that other programs may use them: read only with our prefix.
_ONLY_PREFIXED = frozenset(
    {
        "tools", "space", "read_spaces", "workers", "durability", "models_dir", "shared", "shared_idle",
        "runtime_dir", "http", "passphrase", "secrets", "quarantine",
    }
)  # fmt: skip


def scope(name: str) -> str:
    """The scope of a setting where several assistants share a server.

    Clients whose settings of the `process` are the same share one, each with its own of the `connection`.
    Those of `http` matter to a client that asks for it, those of `starting` to one that looks for the server.
    """
    if name.startswith("api_"):
        return "http"
    if name in ("shared", "shared_idle", "runtime_dir", "http", "log_level", "workers"):
        return "starting"
    per_client = ("space", "read_spaces", "tools")
    return "connection" if name in per_client or name.startswith("max_") else "process"


def _suggestion(name: str, known: Iterable[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    if not close:
        return " `mcp-memory settings` lists them all."
    return f" Did you mean {prefix + close[0].upper() if prefix else close[0]}?"


def _value(field: Any, value: Any) -> Any:
    name, bounds = field.name.upper(), field.metadata
    if isinstance(field.default, int | float):
        return _number(name, value, type(field.default), bounds["low"], bounds["high"])
    text = ",".join(value) if _is_list_of_texts(value) else value
    if not isinstance(text, str):
        raise Invalid(f"{name} must be text, not {value!r}")
    if not bounds["choices"]:
        return text
    if text.lower() not in bounds["choices"]:
        raise Invalid(f"{name} must be one of {', '.join(filter(None, bounds['choices']))}, not {value!r}")
    return text.lower()


def _number(
    name: str, value: Any, kind: type[int] | type[float], low: float | None, high: float | None
) -> float:
    try:
        number = kind(value)
        if isinstance(value, bool) or (not isinstance(value, str) and number != value):
            raise ValueError(value)
    except (TypeError, ValueError, OverflowError):
        raise Invalid(f"{name} must be a {'whole ' if kind is int else ''}number, not {value!r}") from None
    # Written with `not`, because every comparison with NaN is false.
    if not ((low is None or number >= low) and (high is None or number <= high)):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise Invalid(f"{name} must be {bounds}, not {value}")
    return number


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check(config: Config) -> None:
    try:
        checked_space(config.space)
    except Invalid as error:
        raise Invalid(f"SPACE: {error}") from None
    _check_tools(config)
    for name in config.quarantined_origins:
        if name not in QUARANTINED_ORIGINS:
            raise Invalid(f"QUARANTINE knows {', '.join(QUARANTINED_ORIGINS)}, not {name!r}")
    _check_database(config)


def _check_tools(config: Config) -> None:
    for name in config.further_spaces:
        try:
            checked_space(name)
        except Invalid as error:
            raise Invalid(f"READ_SPACES: {error}") from None
    for name in config.tool_sets:
        if name not in TOOL_SETS:
            raise Invalid(f"there is no tool set {name!r}: choose from {', '.join(TOOL_SETS)} or all")
    if not config.tool_sets:
        raise Invalid(f"name at least one tool set: {', '.join(TOOL_SETS)}")
    if "anthropic" in config.tool_sets and len(config.tool_sets) > 1:
        raise Invalid("the anthropic tool set cannot be combined: its tools have the same names as others")


def _check_database(config: Config) -> None:
    if config.database_backend == "postgres" and not _is_postgres(config.url):
        raise Invalid(
            "DATABASE_BACKEND is postgres: set DATABASE_URL to postgresql://user:password@host/database"
        )
    if config.database_backend == "sqlite" and _is_postgres(config.url):
        raise Invalid(
            "DATABASE_BACKEND is sqlite, but DATABASE_URL is a PostgreSQL address: change one of them"
        )
    if not _is_postgres(config.url):
        sqlite_path(config.url)
        if config.database_read_url:
            raise Invalid(
                "DATABASE_READ_URL names a PostgreSQL replica, but DATABASE_URL is SQLite: leave it out"
            )
