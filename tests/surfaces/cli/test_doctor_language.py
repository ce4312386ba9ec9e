"""What `doctor` says about the languages of the model."""

from tests.surfaces.cli.shell import Shell


def model_of(shell: Shell) -> str:
    return next(str(one["detail"]) for one in shell.json("doctor") if one["subject"] == "model")


def test_an_english_model_comes_with_the_command_that_helps_in_other_languages(
    shell_with_model: Shell,
) -> None:
    said = model_of(shell_with_model)
    assert "it knows English only" in said
    assert "mcp-memory model pull multilingual-e5-small" in said


def test_without_a_model_there_is_no_word_about_languages(shell: Shell) -> None:
    assert "English" not in model_of(shell)
