import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_memory.text.lexicon import SYNONYMS, VERB_FORMS
from mcp_memory.text.normalization import normalized
from mcp_memory.text.sameness import MINILM, Calibration, Difference, differences, verdict

ROOT = Path(__file__).parent.parent.parent


def load_report() -> ModuleType:
    name = "sameness_report"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REPORT = load_report()
PAIRS = REPORT.read_pairs()


def test_there_are_enough_labelled_pairs_of_both_kinds_in_both_halves() -> None:
    for half in ("development", "held-out"):
        for same in (True, False):
            assert sum(pair.half == half and pair.same is same for pair in PAIRS) >= 75
    assert len({(pair.a, pair.b) for pair in PAIRS}) == len(PAIRS) >= 300


def test_no_pair_that_differs_is_merged_even_if_the_model_finds_it_equal() -> None:
    merged = [pair for pair in PAIRS if not pair.same and verdict(pair.a, pair.b, cosine=1.0).same]
    assert merged == []


def test_most_pairs_of_the_same_fact_are_merged() -> None:
    same = [pair for pair in PAIRS if pair.same]
    assert sum(pair.merged for pair in same) >= 0.75 * len(same)


@pytest.mark.parametrize(("file", "share"), [("judged_pairs.jsonl", 0.5), ("judged_pairs_2.jsonl", 0.2)])
def test_of_pairs_by_a_stranger_to_the_rules_none_that_differs_is_merged_and_a_share_of_the_others(
    file: str, share: float
) -> None:
    lines = (ROOT / "tests" / "data" / file).read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    merged = [pair for pair in pairs if verdict(pair["a"], pair["b"], pair["cosine"]).same]
    assert [pair for pair in merged if not pair["same"]] == []
    assert len(merged) >= share * sum(pair["same"] for pair in pairs)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("No one on the team knows Perl.", "Nobody on the team knows Perl."),
        ("A job is retried no more than five times.", "A job is retried at most 5 times."),
        ("By the way, Nora is vegetarian.", "Nora is vegetarian."),
        ("Always answer in Spanish, thank you!", "Always answer in Spanish."),
        ("The Wi-Fi is slow.", "The wifi is slow."),
        ("Her number is +44 20 7946 0018.", "Her number is +442079460018."),
    ],
)
def test_politeness_and_ways_to_write_a_number_are_style(a: str, b: str) -> None:
    assert verdict(a, b, 1.0).same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Tell Bo thanks.", "Tell Bo."),
        ("Retry no more than five times.", "Retry no less than five times."),
        ("The codes are 12 34 56.", "The codes are 123456."),
    ],
)
def test_what_only_looks_like_it_is_not(a: str, b: str) -> None:
    assert not verdict(a, b, 1.0).same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ask her, Tom.", "Ask her Tom."),
        ("Logs go to ~/.cache/logs", "Logs go to ~/cache/logs"),
        ("The tenants, who pay late, were told.", "The tenants who pay late were told."),
        ("Call me; Ishmael.", "Call me Ishmael."),
        ("Pack the tools: saw and plane.", "Pack the tools, saw and plane."),
        ("Ask the twins (Ana and Bo).", "Ask the twins, Ana and Bo."),
        ("Ask the twins \u2013 Ana and Bo.", "Ask the twins, Ana and Bo."),
    ],
)
def test_a_comma_or_a_dot_in_a_path_can_be_the_difference(a: str, b: str) -> None:
    assert not verdict(a, b, 1.0).same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We sell bread, milk, and eggs.", "We sell bread, milk and eggs."),
        ("Today, we rest.", "Today we rest."),
        ("Tabs, never spaces.", "Tabs - never spaces."),
        ("Wifi password: blue-lamp-7", "Wifi password blue-lamp-7"),
    ],
)
def test_a_comma_before_a_conjunction_or_after_a_time_is_style(a: str, b: str) -> None:
    assert verdict(a, b, 1.0).same


def test_the_order_of_the_two_texts_does_not_matter() -> None:
    for pair in PAIRS:
        assert verdict(pair.b, pair.a, pair.cosine).same is pair.merged


def test_the_documentation_shows_these_figures() -> None:
    assert REPORT.report(PAIRS) in (ROOT / "docs" / "similar-memories.md").read_text("utf-8")


def test_the_documented_example_is_the_same_fact() -> None:
    decided = verdict("User prefers dark mode", "The user likes dark mode", 0.9325)
    assert decided.same
    assert decided.differences == ()
    assert "0.93" in decided.reason


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("The API port is 8080", "The API port is 8081", "number"),
        ("It was -5 degrees", "It was 5 degrees", "number"),
        ("Due on March 14th", "Due on March 15th", "date"),
        ("Due on Monday", "Due on Tuesday", "date"),
        ("Opens at 7 am", "Opens at 7 pm", "date"),
        ("It weighs 5 kg", "It weighs 5 lb", "unit"),
        ("She lives in Paris", "She lives in Rome", "name"),
        ("User is allergic to peanuts", "User is not allergic to peanuts", "negation"),
        ("Deploy with review", "Deploy without review", "negation"),
        ("User prefers dark mode", "User prefers light mode", "antonym"),
        ("She turned left there", "She turned right there", "antonym"),
        ("All tests pass", "Some tests pass", "quantity"),
        ("She wrote new tests", "She wrote a new test", "quantity"),
        ("User lives in Oslo", "User lived in Oslo", "tense"),
        ("The door is locked", "The door was locked", "tense"),
        ("User must use a VPN", "User may use a VPN", "modality"),
        ("Ana manages Bob", "Bob manages Ana", "order"),
        ("User likes tea", "User likes coffee", "word"),
        ("🍕", "🍣", "word"),
        ("", "...", "word"),
    ],
)
def test_a_difference_is_named(a: str, b: str, kind: str) -> None:
    decided = verdict(a, b, cosine=1.0)
    assert not decided.same
    assert kind in [difference.kind for difference in decided.differences]
    assert kind in decided.reason


def test_both_sides_of_a_difference_are_told() -> None:
    assert differences("The port is 8080", "The port is 8081") == (Difference("number", "8080", "8081"),)
    assert differences("Likes tea", "Likes tea with milk") == (Difference("word", "", "with milk"),)
    assert verdict("Likes tea", "Likes tea with milk", 0.9).reason == "they differ in word: – / with milk"


def test_words_alone_do_not_make_it_the_same() -> None:
    assert verdict("User likes tea", "The user enjoys tea", 0.80).same
    far = verdict("User likes tea", "The user enjoys tea", 0.79)
    assert not far.same
    assert far.reason == "cosine 0.79 is below 0.80 for the same fact"


def test_the_threshold_lies_on_the_models_own_scale() -> None:
    assert MINILM.least_cosine == pytest.approx(0.8)
    assert Calibration(unrelated=0.75).least_cosine == pytest.approx(0.9375)
    assert not verdict("User likes tea", "The user enjoys tea", 0.93, Calibration(unrelated=0.75)).same


TEMPLATES = ["The user has {} books", "Port {} is open", "Version {}", "Room {} is booked for Ana", "{}"]


@given(st.sampled_from(TEMPLATES), st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_numbers_are_never_the_same(template: str, a: int, b: int) -> None:
    assume(a != b)
    assert not verdict(template.format(a), template.format(b), 1.0).same


names = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9).filter(
    lambda name: (
        name not in VERB_FORMS and name not in SYNONYMS and normalized(f"met {name}")[-1].meaning == name
    )
)


@given(names, names)
def test_two_names_are_never_the_same(a: str, b: str) -> None:
    assume(a != b)
    assert not verdict(f"She met {a.title()} in town", f"She met {b.title()} in town", 1.0).same


@given(st.text())
def test_any_text_is_the_same_as_itself(text: str) -> None:
    assert verdict(text, text, 1.0).same


@given(st.text(), st.text())
def test_no_text_breaks_the_comparison(a: str, b: str) -> None:
    assert verdict(a, b, 1.0).same is verdict(b, a, 1.0).same


def test_long_texts_are_compared_to_their_end() -> None:
    long = "The service writes a line for every request it has seen. " * 200
    [difference] = differences(long + "The port is 8080", long + "The port is 8081")
    assert (difference.a, difference.b) == ("8080", "8081")
    assert verdict(long, long + ".", 1.0).same
    assert not verdict(long, long + "No more.", 1.0).same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("She's allergic to nuts", "She is allergic to nuts"),
        ("It costs $1,200", "It costs 1200 dollars"),
        ("Ends on 2025-03-14", "Ends on the 14th of March 2025"),
        ("At 12 am", "At 0:00"),
        ("User likes to swim", "User likes swimming"),
        ("Every Sunday, she calls Ana", "She calls Ana every Sunday"),
        ("The organisation analyses data", "The organization analyzes data"),
        ("The user’s name is Ana", "The user's name is Ana"),
        ("A Ana le gusta el té", "Ana prefiere el té"),
        ("USER LIKES TEA", "user likes tea"),
    ],
)
def test_style_is_evened_out(a: str, b: str) -> None:
    assert differences(a, b) == ()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Send it to us", "Send it to US"),
        ("IT is slow", "It is slow"),
        ("Service A is down", "The service is down"),
        ("Trabajo en Acme", "Trabajó en Acme"),
        ("Llamó a Luis", "Llamó Luis"),
        ("Pedro es aburrido", "Pedro está aburrido"),
        ("Es ist schon", "Es ist schön"),
        ("a == b", "a != b"),
        ("Codes in C", "Codes in C++"),
        ("Does she like tea?", "She likes tea"),
        ("She is liked", "She liked"),
        ("Ana manages the team", "Ana's manager is the team"),
        ("The import job", "The important job"),
        ("Has a few friends", "Has few friends"),
        ("Likes green tea and coffee", "Likes green coffee and tea"),
        ("Every manager reviews", "Reviews every manager"),
        ("Deploy on 5 servers", "Deploy 5 servers"),
        ("It was –18 degrees", "It was 18 degrees"),
        ("Version 3.1", "Version 3.10"),
        ("The line gives 100 Mb/s", "The line gives 100 MB/s"),
        ("Meet at the Polish office", "Meet at the polish office"),
        ("The password is Tango77", "The password is tango77"),
        ("Tango77 is the password", "tango77 is the password"),
        ("Download with curl -o", "Download with curl -O"),
        ("The laser has 5 mW", "The laser has 5 MW"),
        ("Ana works on Rust", "Ana works on rust"),
        ("Bob is not definitely coming", "Bob is not coming"),
        ("No, refunds are possible", "No refunds are possible"),
        ("The ticket cost 5 euros", "The ticket costs 5 euros"),
        ("Ana has a bakery", "Ana owns a bakery"),
        ("Ana loves tea", "Ana likes tea"),
        ("The course finished in May", "The course ended in May"),
        ("First run migrate and restart", "First run restart and migrate"),
        ("Compró una sábana", "Compró una sabana"),
    ],
)
def test_what_only_looks_like_style_is_a_difference(a: str, b: str) -> None:
    assert differences(a, b) != ()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("He used to get up early.", "He is used to getting up early."),
        ("Names match [a-z]{3}.", "Names match [a-z]{3,}."),
        ("Set `debug: on` in the file.", 'Set `debug: "on"` in the file.'),
        ("She sold three-week-old puppies.", "She sold three week-old puppies."),
    ],
)
def test_code_a_counted_compound_and_being_used_to_something_are_read_to_the_letter(a: str, b: str) -> None:
    assert not verdict(a, b, 1.0).same
