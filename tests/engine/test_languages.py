"""Short facts in other languages than English are found by questions that use other forms of their words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.engine import Engine
from mcp_memory.engine.context import MOST_TOLD
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from tests.conftest import EngineMaker

FACTS = {
    "es": (
        "Mi hermana vive en Lugo desde 2019",
        "A Nora le gusta el tren de noche",
        "El médico de la abuela se llama Iván",
        "La reunión del equipo es los martes",
        "Compramos una bicicleta roja para Leo",
    ),
    "de": (
        "Mein Bruder wohnt in der Nähe von Bern",
        "Das Buch über die Alpen liegt im Regal",
        "Der Arzt der Großmutter heißt Iven",
        "Wir kauften ein rotes Fahrrad für Leo",
    ),
    "fr": (
        "Ma sœur habite à Lyon depuis 2019",
        "Le médecin de la grand-mère est à Nice",
        "Nous avons acheté un vélo rouge pour Léo",
        "Le chat dort sur le canapé",
    ),
    "ru": (
        "Моя сестра живёт в Казани",
        "Мы купили книгу о горах для Лео",
        "Собрание команды по вторникам",
        "Врач бабушки работает в больнице",
    ),
}

QUESTIONS = (
    ("es", "¿Qué trenes le gustan?", 1),
    ("es", "¿Cuáles de mis hermanas vivían fuera?", 0),
    ("es", "¿Cuándo son las reuniones de los equipos?", 3),
    ("es", "¿Qué bicicletas se compraron?", 4),
    ("de", "Welche Bücher sind über Berge?", 1),
    ("de", "Wo wohnten die Brüder?", 0),
    ("de", "Welche Fahrräder hat er?", 3),
    ("fr", "Où sont les médecins ?", 1),
    ("fr", "Quels chats dormaient ici ?", 3),
    ("ru", "Какие книги мы купили?", 1),
    ("ru", "Где живут сёстры?", 0),
    ("ru", "Когда собрания команд?", 2),
)


@pytest.mark.parametrize(("language", "question", "answer"), QUESTIONS)
def test_a_question_in_other_words_forms_finds_its_fact_first(
    engine: Engine, language: str, question: str, answer: int
) -> None:
    for fact in FACTS[language]:
        engine.memories.remember(NewMemory(content=fact))
    found = engine.recall.recall(question, mode="keyword", fading="gentle").hits
    assert found[0].memory.content == FACTS[language][answer]


def test_the_mode_says_that_an_english_model_is_trusted_less_and_what_helps(
    make_engine: EngineMaker, minilm: Embedder
) -> None:
    engine = make_engine(model=minilm)
    engine.memories.remember(NewMemory(content=FACTS["es"][0]))
    assert engine.recall.recall("where does my sister live?").mode == "hybrid"
    mode = engine.recall.recall("¿Dónde vive mi hermana desde hace años?").mode
    assert mode.startswith("hybrid, mostly by words")
    assert HINT in mode


HINT = "mcp-memory model pull multilingual-e5-small"
SPANISH = "¿Dónde vive mi hermana desde hace años?"


def test_each_client_is_told_once_what_helps(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    engine.memories.remember(NewMemory(content=FACTS["es"][0]))
    engine.recall.recall("where does my sister live?")
    modes = [
        engine.recall.recall(SPANISH).mode,
        engine.recall.recall_for_agent(SPANISH).mode,
        engine.entities.search(SPANISH, 5).mode,
        engine.recall.recall(SPANISH).mode,
    ]
    assert [HINT in mode for mode in modes] == [True, False, False, False]
    assert all("mostly by words" in mode for mode in modes)
    other = engine.acting_for(Caller(engine.caller.space, "another client"))
    assert [HINT in other.recall.recall(SPANISH).mode for _ in range(2)] == [True, False]
    elsewhere = engine.acting_for(Caller("elsewhere", engine.caller.client))
    elsewhere.memories.remember(NewMemory(content=FACTS["es"][1]))
    assert [HINT in elsewhere.recall.recall(SPANISH).mode for _ in range(2)] == [True, False]


def test_clients_under_ever_new_names_do_not_fill_the_memory(
    make_engine: EngineMaker, minilm: Embedder
) -> None:
    engine = make_engine(model=minilm)
    context = engine.recall._context
    for number in range(MOST_TOLD + 10):
        assert replace(context, caller=Caller("space", f"client {number}")).tell_once("a hint")
    assert len(context.told) <= MOST_TOLD
