"""The command line in a folder with a table: ``run`` gives the result of a command."""

import pytest
from click.testing import CliRunner

from hocmim.cli import main
from made_tables import mixed_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the mixed table, where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    mixed_table().to_csv("mixed.csv", index=False)
    return tmp_path


@pytest.fixture
def run(folder):
    def run(*arguments, code=0, stdin=None, width=None):
        """Run a command; with a width, on a terminal."""
        # rich takes COLUMNS of such a terminal only with LINES.
        env = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": str(width), "LINES": "40"}
        result = CliRunner().invoke(
            main, [str(a) for a in arguments], input=stdin, env=env if width else None
        )
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return run
