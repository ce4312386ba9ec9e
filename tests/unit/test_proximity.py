"""Words of a query side by side count more than the same words scattered."""

from __future__ import annotations

from mcp_memory.ranking.proximity import holds_phrase, proximity
from mcp_memory.text.language import is_foreign


def test_words_in_order_are_closest() -> None:
    terms = ["red", "appl", "pie"]
    in_order = proximity(["the", "red", "appl", "pie"], terms)
    scattered = proximity(["pie", "for", "the", "appl", "and", "a", "red", "bowl"], terms)
    assert in_order == 1.0 > scattered > 0.0
    assert proximity(["red"], ["red"]) == 0.0
    assert proximity(["nothing"], terms) == 0.0


def test_a_phrase_is_held_only_as_a_whole() -> None:
    assert holds_phrase(["a", "red", "appl", "pie"], ["red", "appl"])
    assert not holds_phrase(["appl", "red"], ["red", "appl"])
    assert not holds_phrase([], ["red"])
    assert not holds_phrase(["red"], [])


def test_other_languages_are_noticed_by_script_and_function_words() -> None:
    foreign = [
        "¿Cuántos puntos dejaron escapar en defensa los Panthers?",
        "贾里德在职业生涯中有多少次擒杀？",
        "Где ключи от машины?",
        "Wo ist der Schlüssel für den Keller?",
        "Où est-ce que le médecin passe ses vacances ?",
        "¿Cuándo?",
    ]
    english = [
        "When did Caroline go to the LGBTQ support group?",
        "port 8080",
        "Kubernetes",
        "The café in Zürich is closed on Monday",
        "",
    ]
    assert all(map(is_foreign, foreign))
    assert not any(map(is_foreign, english))
