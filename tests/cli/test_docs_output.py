"""The commands of README and of the page on the command line print the output shown."""

import pytest

import docs_output

PAGE = docs_output.ROOT / "docs" / "cli.md"


@pytest.mark.slow
@pytest.mark.parametrize("page", docs_output.console_pages(), ids=lambda page: page.stem)
def test_commands_of_a_page_print_what_the_page_shows(page, tmp_path):
    run = docs_output.make_shell(tmp_path)
    for block in docs_output.CONSOLE.findall(page.read_text("utf-8")):
        for command, shown in docs_output.split_commands(block):
            real = run(command)
            assert docs_output.matches(shown, real), (
                f"$ {command}\n{docs_output.difference(shown, real)}\n"
                "If the new output is right: python tests/docs_output.py --write"
            )


def test_every_command_is_on_the_page():
    text = PAGE.read_text("utf-8")
    assert len(docs_output.CONSOLE.findall(text)) >= 8
    commands = ("demo", "columns", "select", "explain", "report", "compare", "apply", "bench")
    for command in commands:
        assert f"hocmim {command}" in text
