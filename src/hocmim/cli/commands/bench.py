"""Run the published experiment, the leaderboard or one of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from hocmim.cli import options, show
from hocmim.cli.command import Command
from hocmim.data.writing import check_writable
from hocmim.errors import HocmimError, InvalidParameterError, check_installed
from hocmim.experiments import known, paper
from hocmim.experiments.answers import CASES
from hocmim.experiments.config import config_report, read_config
from hocmim.experiments.datasets import fetch_published, find_published, save
from hocmim.experiments.figures import write_figures
from hocmim.experiments.page import write_page
from hocmim.experiments.protocol import Protocol
from hocmim.experiments.published import published_sets
from hocmim.experiments.report import ExperimentReport, machine_grid, write_tables
from hocmim.experiments.run import Experiment, Results, run
from hocmim.experiments.store import Store
from hocmim.parameters import MAX_JOBS
from hocmim.selectors.registry import find_name
from hocmim.text import did_you_mean, value_text

RESULTS = "results.jsonl"


def out_option(
    text: str = "Folder for the results, tables, figures and the page.", *, required: bool = True
) -> Callable[..., Any]:
    """Return the option of the folder to write."""
    return click.option("--out", type=click.Path(path_type=Path), required=required, help=text)


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, MAX_JOBS),
    default=1,
    show_default=True,
    help="Number of processes, at most one per core.",
)
methods_option = click.option("--methods", metavar="A,B,…", help="Use only these methods.")
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)
only_report_option = click.option(
    "--only-report", is_flag=True, help="Compute nothing; write the tables of the existing results."
)
pdf_option = click.option("--pdf", is_flag=True, help="Write the figures as PDF as well.")


@click.group()
def bench() -> None:
    """Run the published experiment, the leaderboard or one of your own."""


bench.command_class = Command


@bench.command("paper")
@click.option(
    "--data",
    "data",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the data sets: NAME.npz, NAME.csv or NAME.parquet.",
)
@out_option()
@jobs_option
@click.option(
    "--splits",
    type=click.IntRange(1),
    help="Number of random splits of each data set.  [default: 30]",
)
@click.option(
    "--splits-of",
    multiple=True,
    metavar="NAME=N",
    help="Number of splits of one data set. Repeatable.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Run 3 splits of the small data sets only, in less than 5 minutes.",
)
@click.option("--datasets", metavar="A,B,…", help="Use only these data sets.")
@methods_option
@seed_option
@only_report_option
@pdf_option
def bench_paper(
    data: Path, out: Path, jobs: int, splits: int | None, splits_of: Sequence[str], quick: bool,
    datasets: str | None, methods: str | None, seed: int, only_report: bool, pdf: bool,
) -> None:  # fmt: skip
    """Run the experiment of the paper.

    Results are saved as they are computed. After Ctrl-C the same command resumes.

    \b
    Example:
      hocmim bench paper --data data --out results --quick
    """
    with reported_errors():
        names = tuple(entry.name for entry in published_sets())
        only = _chosen(datasets, names, "data set") or (paper.QUICK_SETS if quick else None)
        wanted = [entry for entry in published_sets() if only is None or entry.name in only]
        found = find_published(data, wanted)
        for name, reason in found.missing.items():
            show.say(f"Not included: {name}: {reason}", "yellow")
        protocol = Protocol(discretizer=paper.DISCRETIZER, seed=seed)
        number = splits or (paper.QUICK_SPLITS if quick else 30)
        n_splits = {entry.name: number for entry in wanted} | _splits_of(splits_of, names)
        chosen = _chosen(methods, paper.METHODS, "method") or paper.METHODS
        experiment = paper.paper_experiment(found, protocol, n_splits, chosen)
        results = execute(experiment, out, jobs, only_report)
        report = paper.paper_report(
            results.outcomes, experiment, found.missing, results.failures, only=only
        )
        finish(report, out, pdf)


@bench.command("run")
@click.argument("config", type=click.Path(path_type=Path))
@out_option("Folder for the results.  [default: the one in CONFIG]", required=False)
@click.option("--jobs", type=click.IntRange(1, MAX_JOBS), help="Number of processes.")
@only_report_option
@pdf_option
@options.safe_csv
def bench_run(
    config: Path, out: Path | None, jobs: int | None, only_report: bool, pdf: bool, safe_csv: bool,
) -> None:  # fmt: skip
    """Run the experiment that the TOML file CONFIG describes.

    \b
    Example:
      hocmim bench run experiment.toml --out results
    """
    with reported_errors():
        settings = read_config(config)
        folder = out or settings.out
        if folder is None:
            raise InvalidParameterError(
                "No folder for the results: set out in [run], or pass --out."
            )
        results = execute(settings.experiment, folder, jobs or settings.jobs, only_report)
        report = config_report(settings, results.outcomes, results.failures)
        finish(report, folder, pdf, safe_csv)


@bench.command("known")
@out_option()
@click.option(
    "--tables",
    type=click.IntRange(1),
    default=known.N_TABLES,
    show_default=True,
    help="Number of tables of each case.",
)
@jobs_option
@click.option("--cases", metavar="A,B,…", help="Use only these cases.")
@methods_option
@seed_option
@only_report_option
def bench_known(
    out: Path, tables: int, jobs: int, cases: str | None, methods: str | None, seed: int,
    only_report: bool,
) -> None:  # fmt: skip
    """Compare all methods on tables with known answers.

    The tables are generated from the seed: no download, no data folder. All methods run beside
    scikit-learn's own selectors. Results are saved as they are computed. After Ctrl-C the same
    command resumes.

    \b
    Example:
      hocmim bench known --out leaderboard --tables 1 --jobs 2
    """
    with reported_errors():
        experiment = known.known_experiment(
            tables,
            _chosen(methods, known.METHOD_NAMES, "method") or known.METHOD_NAMES,
            _chosen(cases, tuple(CASES), "case") or tuple(CASES),
            seed,
        )
        results = execute(experiment, out, jobs, only_report)
        finish(known.known_report(results.outcomes, experiment, results.failures), out)


@bench.command("fetch")
@click.argument("names", nargs=-1)
@out_option("Folder for the data sets.")
def bench_fetch(names: Sequence[str], out: Path) -> None:
    """Download data sets of the paper from OpenML.

    Downloads those NAMES, or all of them.

    \b
    Example:
      hocmim bench fetch sonar --out data
    """
    known = {entry.name: entry for entry in published_sets()}
    with reported_errors():
        chosen = _chosen(",".join(names), tuple(known), "data set") or tuple(known)
    for name in chosen:
        try:
            path = save(fetch_published(known[name]), out)
            show.say(f"{name}: {path}")
        except (HocmimError, OSError) as error:
            show.say(f"{name}: {error}", "yellow")


# --- shared by the commands -----------------------------------------------------------------------


def execute(experiment: Experiment, out: Path, jobs: int, only_report: bool) -> Results:
    """Run the items without a result, with a progress bar; or only read the results."""
    check_ready(experiment, out)
    store = Store(out / RESULTS)
    if only_report:
        known = store.read()
        items = experiment.items()
        return Results({item: known[item] for item in items if item in known}, [])
    with show.bar("running", quiet=False, has_lines=True) as move:
        results = run(experiment, store, jobs=jobs, progress=move)
    for text in results.warnings:
        show.warn(text)
    return results


def check_ready(experiment: Experiment, out: Path) -> None:
    """Raise an error, before the work, if there is no data set, no matplotlib or no folder."""
    if not experiment.sources:
        raise InvalidParameterError("There is no data set to run on: no file was found.")
    check_installed("The figures of an experiment need", "matplotlib")
    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / RESULTS, overwrite=True)


def finish(report: ExperimentReport, out: Path, pdf: bool = False, is_safe: bool = False) -> None:
    """Write tables, figures and the page, and print where."""
    write_tables(report, out / "tables", is_safe=is_safe)
    write_page(report, write_figures(report, out / "figures", pdf=pdf), out / "index.html")
    machine_grid().write(out, "machine")
    for problem in report.problems():
        show.say(problem, "yellow")
    show.say(f"Wrote tables, figures and {out / 'index.html'}.")
    if report.failures:
        raise click.exceptions.Exit(1)


@contextmanager
def reported_errors() -> Iterator[None]:
    """Print an error as a sentence and exit with 1; after Ctrl-C print how to resume."""
    try:
        yield
    except HocmimError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        show.say("Stopped. Run the same command again to resume.")
        raise click.exceptions.Exit(130) from None


def _chosen(text: str | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    chosen = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if what == "method":
        chosen = tuple(dict.fromkeys(_method_name(name, known) for name in chosen))
    for name in chosen:
        if name not in known:
            raise InvalidParameterError(
                f"There is no {what} {name!r}.{did_you_mean(name, known)} The {what}s are "
                f"{', '.join(known)}."
            )
    return chosen


def _method_name(name: str, known: Sequence[str]) -> str:
    """Return the method that a name means, as for ``make_selector``; or the name itself."""
    try:
        return name if name in known else find_name(name)
    except InvalidParameterError:
        return name


def _splits_of(entries: Sequence[str], known: Sequence[str]) -> dict[str, int]:
    found = {}
    for entry in entries:
        name, _, number = entry.partition("=")
        if name not in known or not number.isdigit() or int(number) < 1:
            raise InvalidParameterError(
                f"--splits-of needs NAME=N: a data set and a number of at least 1. "
                f"Got {value_text(entry)}."
            )
        found[name] = int(number)
    return found
