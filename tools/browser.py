"""Installs the browser that the tests use, and says where it is.

A Chromium that is installed is taken. Else it comes from the npm package `@sparticuz/chromium`, which carries
one for Linux, because browsers' own downloads are not reachable everywhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools import npm_tools  # noqa: E402

UNPACKED = ROOT / ".tools" / "browser"
PACKAGES = npm_tools.installed("node")
INSTALLED_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKED = PACKAGES / "node_modules" / "@sparticuz" / "chromium"
UNPACK = "import('@sparticuz/chromium').then(async ({default: c}) => console.log(await c.executablePath()))"

FONTS = UNPACKED / "fonts.conf"
FONTS_CONFIG = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>{folder}/font-cache</cachedir>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""

ARGUMENTS = (
    "--no-sandbox",
    "--no-zygote",
    "--use-gl=angle",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--font-render-hinting=none",
)


def executable() -> Path | None:
    """The browser, if one is installed."""
    for name in INSTALLED_NAMES:
        if found := shutil.which(name):
            return Path(found)
    unpacked = UNPACKED / "chromium"
    return unpacked if unpacked.exists() else None


def environment() -> dict[str, str]:
    """With the fonts that came with the browser, the same on every machine."""
    if not FONTS.exists():
        return dict(os.environ)
    return {**os.environ, "FONTCONFIG_FILE": str(FONTS)}


def install() -> int:
    if executable() is not None:
        print("the browser for the tests is installed")
        return 0
    if not PACKED.exists() and (failed := npm_tools.install("node")):
        return failed
    UNPACKED.mkdir(parents=True, exist_ok=True)
    node = npm_tools.node_folder() / ("node.exe" if os.name == "nt" else "node")
    done = subprocess.run(
        [str(node), "-e", UNPACK],
        cwd=PACKAGES,
        env={**os.environ, "TMPDIR": str(UNPACKED)},
        check=False,
    )
    # The package's own file names folders of the cloud service that it was made for.
    FONTS.write_text(FONTS_CONFIG.format(folder=UNPACKED), encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(install())
