"""Applies every rule to a conversation and collects what is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mcp_memory.capture.clauses import clauses, spelled_out, told_before_a_task
from mcp_memory.capture.commits import commits
from mcp_memory.capture.conversation import Call, Candidate, Turn
from mcp_memory.capture.corrections import correction
from mcp_memory.capture.decisions import decision
from mcp_memory.capture.facts import about_oneself, about_others, environment, learned
from mcp_memory.capture.features import seen_in
from mcp_memory.capture.fixes import fixes
from mcp_memory.capture.lexicon import is_hearsay, names_a_value
from mcp_memory.capture.preferences import preference
from mcp_memory.capture.requests import is_standing, request
from mcp_memory.capture.speech import Sentence, sentences
from mcp_memory.capture.todos import todo
from mcp_memory.capture.weighing import BEAR, BEAR_IF_ASKED, told_by, weighed
from mcp_memory.text.secrets import HIDDEN, redacted

MOST_PER_SESSION = 30
LONGEST = 600
"""Characters of one captured memory."""

_LEANS = re.compile(
    r"\b(?:it|that|this|them|those|he|she|they|eso|esto|lo|ello|das|ihn|ça|cela)\b(?! \w+ (?:is|are)\b)",
    re.IGNORECASE,
)
"""Points back at what was said before."""

Rule = Callable[[Sentence], str | None]

SENTENCE_RULES: Mapping[str, tuple[str, tuple[Rule, ...]]] = {
    "request": ("fact", (request,)),
    "correction": ("preference", (correction,)),
    "decision": ("decision", (decision,)),
    "todo": ("todo", (todo,)),
    "preference": ("preference", (preference,)),
    "fact": ("fact", (about_oneself, environment, learned, about_others)),
}
"""Memory type and functions of each rule. The first rule that matches a sentence keeps it."""

EXPLANATIONS: Mapping[str, str] = {
    "request": "somebody asked for it to be remembered, or to be done so from now on",
    "correction": "somebody said that something was not so, and how it is",
    "decision": "somebody said what was decided, chosen, agreed on or ruled out",
    "todo": "somebody left it for another time",
    "preference": "somebody said what they like or dislike, or want done always or never",
    "fact": "somebody stated a fact about a person, a place, an account or an environment",
    "fix": "a command failed, and passed after what is named here",
    "commit": "a commit was made",
}
"""By rule: why something was kept, in a sentence for people."""


def explained(rule: str, text: str) -> str:
    """Explains a captured memory: its rule, and the features for and against it."""
    reason = EXPLANATIONS.get(rule, "a rule of an earlier release")
    if rule not in SENTENCE_RULES:
        return reason
    told = told_by(seen_in(spelled_out(text)))
    return "; ".join([reason, *(f"{name} {worth:+d}" for name, worth in told.items() if worth)])


CALL_RULES: Mapping[str, tuple[str, Callable[[Sequence[Call]], Iterable[str]]]] = {
    "fix": ("learning", fixes),
    "commit": ("event", commits),
}


def candidates(turns: Sequence[Turn]) -> list[Candidate]:
    """Candidates from the turns, in order, without secrets and without repeats."""
    found: dict[str, Candidate] = {}
    for one in (*(said for turn in turns for said in _of_speech(turn)), *_of_calls(turns)):
        found.setdefault(_key(one), one)
    return list(found.values())


def _of_speech(turn: Turn) -> Iterator[Candidate]:
    for rule, text in _joined(_fitting(sentence) for sentence in sentences(turn.text)):
        one = _candidate(text, _type_of(rule, text), rule, turn)
        if not (rule == "fact" and _tells_only_a_secret(one.text)):
            yield one


def _tells_only_a_secret(text: str) -> bool:
    """Whether nothing specific is left once the secret is hidden: such a fact is of no use to anybody."""
    return HIDDEN in text and not names_a_value(text.replace(HIDDEN, ""))


def _type_of(rule: str, text: str) -> str:
    """The type of a candidate: a standing wish is a preference, however it is worded."""
    asked_to_act = rule == "request" and (is_standing(text) or preference(Sentence(text)))
    return "preference" if asked_to_act else SENTENCE_RULES[rule][0]


def _joined(found: Iterable[tuple[str, str, bool] | None]) -> list[tuple[str, str]]:
    """Rule and text of each candidate; a sentence that depends on the one before is joined to it."""
    kept: list[tuple[str, str]] = []
    follows = False
    for one in found:
        if one is None:
            follows = False
        elif follows and one[2] and _LEANS.search(one[1]):
            kept[-1] = (kept[-1][0], f"{kept[-1][1]} {one[1]}")
        else:
            kept.append(one[:2])
            follows = True
    return kept


def _fitting(sentence: Sentence) -> tuple[str, str, bool] | None:
    """The rule that matches the sentence, its text, and whether only its points support it.

    People often tell something and ask for something in one breath; then what they tell is judged alone.
    """
    whole = _judged(sentence)
    told = None if whole else told_before_a_task(sentence)
    return _judged(told) if told else whole


def _judged(sentence: Sentence) -> tuple[str, str, bool] | None:
    read = Sentence(spelled_out(sentence.text), sentence.before)
    if read.is_question or is_hearsay(read.text):
        return None
    kind, worth = weighed(read.text)
    if worth < BEAR_IF_ASKED:
        return None
    ruled = _first_rule(sentence, read)
    if worth < BEAR and (ruled is None or ruled[0] != "request"):
        return None
    if ruled is None and kind is not None:
        return kind, sentence.text, True
    return (*ruled, False) if ruled else None


def _first_rule(sentence: Sentence, read: Sentence) -> tuple[str, str] | None:
    """The rule that fits the sentence, else one of its clauses. The text is what the person typed."""
    for part in (read, *clauses(read)):
        for name, (_, rules) in SENTENCE_RULES.items():
            for rule in rules:
                text = rule(part)
                if text is not None:
                    return name, sentence.text if text == part.text else text
    return None


def _of_calls(turns: Sequence[Turn]) -> Iterator[Candidate]:
    """A failure may be fixed a turn later, so the calls of all turns are read as one sequence."""
    calls = [call for turn in turns for call in turn.calls]
    if not calls:
        return
    last = next(turn for turn in reversed(turns) if turn.calls)
    for name, (type, rule) in CALL_RULES.items():
        for text in rule(calls):
            yield _candidate(text, type, name, last)


def _candidate(text: str, type: str, rule: str, turn: Turn) -> Candidate:
    kept = redacted(" ".join(text.split()))[:LONGEST]
    return Candidate(text=kept, type=type, rule=rule, turn=turn.id, at=turn.at, corrects=rule == "correction")


def _key(candidate: Candidate) -> str:
    return candidate.text.casefold().strip(" .!")
