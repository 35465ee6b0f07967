"""The parameters and fitted attributes that every information-theoretic selector has."""

from __future__ import annotations

from hocmim.coding.cuts import DEFAULT_DISCRETIZER, DISCRETIZERS
from hocmim.coding.kendall import KENDALL
from hocmim.coding.rare import DEFAULT_MAX_LEVELS
from hocmim.coding.target import TARGET_DISCRETIZERS, TARGET_STRATEGIES
from hocmim.data.target import TARGET_KINDS
from hocmim.defaults import DEFAULT_K
from hocmim.information.estimators import ESTIMATORS
from hocmim.insight.cautions import IDENTIFIERS as MODES
from hocmim.parameters import JOBS, PATH_OR_NONE, SEED, Number, OneOf, Parameter
from hocmim.search.discovery import FDR
from hocmim.search.stopping import MAX_TRIES, STOPS

# More would take hours; the smallest p-value is then below any level in use.
MAX_PERMUTATIONS = 1_000_000


def choices(names: tuple[str, ...]) -> str:
    """Return names as a docstring lists them: {"a", "b"}."""
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


N_FEATURES = Parameter(
    "n_features_to_select",
    DEFAULT_K,
    None,  # depends on the table
    'int, float, "auto" or None, default 10',
    "How many columns to select: a number, a fraction of all, None for half of them, or "
    '"auto" for as many as add more than chance does: see ``stop``.',
)


TARGET_KIND = Parameter(
    "target_kind",
    "auto",
    OneOf(TARGET_KINDS),
    f'{choices(TARGET_KINDS)}, default "auto"',
    'What y holds. "auto": numbers with fractions, or with many distinct values, are a quantity, '
    "everything else is classes; a guess gives a ``HocmimWarning``. See "
    "``hocmim.data.target.decide_kind``.",
)


IDENTIFIERS = Parameter(
    "identifiers",
    "drop",
    OneOf(MODES),
    f'{choices(MODES)}, default "drop"',
    "What to do with columns that identify the rows: strings with nearly one level a row, and row "
    'numbers. "drop": they are no candidates. "warn" and "keep": they are. The first two give a '
    "``DataWarning``. See ``hocmim.coding.identifiers``.",
)


def estimator_parameter(default: str) -> Parameter:
    """Return the parameter ``estimator`` with this default."""
    return Parameter(
        "estimator",
        default,
        OneOf(ESTIMATORS),
        f'{choices(ESTIMATORS)}, default "{default}"',
        "How information is estimated from counts; see ``hocmim.information.estimators``.",
    )


# Parameters of the filters too.
CONSTRAINTS = (
    Parameter(
        "keep",
        None,
        None,  # depends on the table
        "names, indices, mask or callable, or None",
        "Columns that are selected in any case. They come first, count towards "
        "``n_features_to_select``, and the other columns are selected given them. A callable gets "
        "the array of column names and returns names, indices or a mask. A column of a group "
        "stands for its group.",
    ),
    Parameter(
        "exclude",
        None,
        None,  # depends on the table
        "names, indices, mask or callable, or None",
        "Columns that are never selected, in the same forms.",
    ),
    Parameter(
        "costs",
        None,
        None,  # depends on the table
        "array of numbers, dict of name to number, Series, or None",
        "What each column costs, a positive number; columns that a dict does not name cost 1. A "
        "group costs the sum of its columns. The column with the largest score per unit of cost is "
        "selected: J / cost, or J · cost where J is not positive.",
    ),
    Parameter(
        "budget",
        None,
        Number(0, or_none=True, is_above=True),
        "float or None",
        "What the selected columns may cost together. Selection ends when no other column can be "
        "paid for. With ``n_features_to_select=None``, as many are selected as can be paid for.",
    ),
)

COMMON = (
    Parameter(
        "discretizer",
        DEFAULT_DISCRETIZER,
        OneOf((*DISCRETIZERS, KENDALL)),
        f'{choices((*DISCRETIZERS, KENDALL))}, default "{DEFAULT_DISCRETIZER}"',
        "How numeric columns are cut into bins: equal width, equal frequency, or by the class. "
        '"kendall" compares pairs of rows instead, for small samples: see '
        "``hocmim.coding.kendall``.",
    ),
    Parameter(
        "n_bins",
        5,
        None,  # checked by Encoder
        "int, default 5",
        "Numeric columns with more distinct values than this are cut.",
    ),
    Parameter(
        "max_levels",
        DEFAULT_MAX_LEVELS,
        None,  # checked by Encoder
        'int, "auto" or None, default "auto"',
        "The most levels of a column of strings or categories: of more, the rarest are pooled into "
        'one level. "auto": half the square root of the number of rows, and at least 16. None: no '
        "pooling up to 65 536 levels. See ``hocmim.coding.rare``.",
    ),
    IDENTIFIERS,
    TARGET_KIND,
    Parameter(
        "target_bins",
        3,
        None,  # checked by TargetOptions
        "int, default 3",
        "Into how many bins a quantity in y is cut.",
    ),
    Parameter(
        "target_discretizer",
        "quantile",
        OneOf(TARGET_DISCRETIZERS),
        f'{choices(TARGET_DISCRETIZERS)}, default "quantile"',
        "How a quantity in y is cut into bins: equal frequency or equal width.",
    ),
    Parameter(
        "target_strategy",
        "joint",
        OneOf(TARGET_STRATEGIES),
        f'{choices(TARGET_STRATEGIES)}, default "joint"',
        'For y with several columns. "joint": the combinations of their values are one target, if '
        'there are five rows for each on average. "mean": the score is the mean over the targets.',
    ),
    Parameter(
        "min_gain",
        None,
        Number(0, or_none=True),
        "float or None",
        "Stop before a column whose score is lower than this, even if fewer columns are selected "
        "then.",
    ),
    Parameter(
        "stop",
        "chi2",
        OneOf(STOPS),
        '{"chi2", "permutation"}',
        'For "auto": how to test whether the best candidate X adds anything to the selected '
        "features Z most redundant with it, H0: X ⟂ Y | Z. See ``hocmim.search.stopping``.",
    ),
    Parameter(
        "alpha",
        0.01,
        Number(0, 1),
        "float, default 0.01",
        'For "auto": the significance level, corrected for the number of candidates. A column with '
        "a larger p-value is not selected.",
    ),
    Parameter(
        "max_tries",
        MAX_TRIES,
        Number(1, is_whole=True),
        f"int, default {MAX_TRIES}",
        'For "auto": how many candidates of a step may fail the test before the selection stops; '
        "the best first.",
    ),
    Parameter(
        "fdr",
        None,
        FDR,
        "float or None",
        'For "auto": instead of ``alpha``, the false-discovery rate: the largest expected share of '
        "selected columns that add nothing to those selected before them. See "
        "``hocmim.search.discovery``.",
    ),
    Parameter(
        "n_permutations",
        999,
        Number(1, MAX_PERMUTATIONS, is_whole=True),
        "int, default 999",
        'For "auto" and "permutation": how many permutations.',
    ),
    Parameter(
        "random_state",
        0,
        SEED,
        "int, RandomState or None, default 0",
        "Random seed of the permutations.",
    ),
    Parameter(
        "feature_groups",
        None,
        None,
        "dict of name to columns, list of lists of columns, or None",
        "Columns (by name or index) that are selected together as one feature, such as the columns "
        "of a one-hot code. The other columns stay as they are.",
    ),
    *CONSTRAINTS,
    Parameter(
        "engine",
        "local",
        None,
        '"local", "dask", a distributed Client or the address of a scheduler',
        "Where the work is done: on this machine, or on the workers of a Dask cluster. Never "
        "changes a result.",
    ),
    Parameter(
        "codes_dir",
        None,
        PATH_OR_NONE,
        "path or None",
        "Keep the codes in memory-mapped files of this folder instead of in memory, and use them "
        "again for the same data.",
    ),
    Parameter(
        "checkpoint",
        None,
        PATH_OR_NONE,
        "path or None",
        "Write the state of the search to this file after each selected column. If the file "
        "exists, continue from it.",
    ),
    Parameter(
        "n_jobs",
        None,
        JOBS,
        "int or None",
        "Threads; -1 for all cores. None: one in a worker of joblib or a task of Dask, as many as "
        "``joblib.parallel_config`` says inside it, otherwise all cores. Never changes a result.",
    ),
    Parameter(
        "verbose",
        0,
        Number(0, is_whole=True, or_boolean=True),
        "int",
        "1 prints how many terms there are to compute, a line for each selected column, and the "
        "progress of long steps, to standard error.",
    ),
)

ATTRIBUTES = """\
Attributes
----------
selected_ : ndarray of int64, shape (K,)
    Column indices in the order of selection.
scores_ : ndarray of float64, shape (K,)
    The score of each selected column when it was selected, in nats.
relevance_ : ndarray of float64, shape (n_features_in_,)
    I(X;Y) of every column, in nats.
ranking_ : ndarray of int64, shape (n_features_in_,)
    1 for the column selected first; columns that were not selected share K + 1.
encoder_ : Encoder
    How each column was encoded.
identifiers_ : ndarray of int64
    The columns that identify the rows; with ``identifiers="drop"`` they are no candidates.
target_kind_ : {"classes", "quantity"}
    What y holds: as declared, or as "auto" found it. A tuple for several targets.
target_strategy_ : {"", "joint", "mean"}
    What was done with several targets; "" for one.
classes_ : ndarray or None
    The classes of y; None for a quantity. For several targets and "joint", the combinations.
target_cuts_ : ndarray or None
    The cut points of a quantity; None for classes. For several targets and "mean", a list.
p_values_ : ndarray of float64, shape (K,)
    Of each selected column when it was selected, corrected: at most ``alpha`` or ``fdr``. Only with
    "auto".
stopping_ : Stopping or None
    Why the selection ended early: ``reason``, the column it ended before, its score and p-value.
    None if all columns, or the number given, were selected.
support_ : ndarray of bool, shape (n_features_in_,)
    Which columns are selected.
n_features_ : int
    How many columns are selected.
kept_ : ndarray of bool, shape (K,)
    Whether each selected column was selected because it is in ``keep``.
total_cost_ : float
    What the selected columns cost together. Only with ``costs``.
features_ : Features
    What was selected from: the groups of ``feature_groups``, and the columns in no group.
selection_ : Selection
    The whole search, in feature indices: the winner and the runner-up of each step.
trace_ : Trace
    The same as a table: score, relevance, order and representative set of each winner and
    runner-up."""

REPRESENTATIVE_SETS = """
orders_ : ndarray of int64, shape (K,)
    The size of the representative set of each selected column when it was selected.
representative_sets_ : list of ndarray of int64
    These sets, as column indices in greedy order."""
