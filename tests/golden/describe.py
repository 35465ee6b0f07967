"""What is recorded of a result, as values that JSON holds.

Scores are written by ``float.hex``: to the last bit. Long arrays are written as a digest. Words are
not recorded, except the names of columns.

A product of matrices has other last bits where BLAS has another kernel for the processor. What
depends on one is written in a few digits, which hold everywhere, and to the last bit as ``bits``,
which are compared only where the kernel is the same.
"""

import hashlib
import json
from functools import cache

import numpy as np
from threadpoolctl import threadpool_info

# Longer arrays of whole numbers are written as a digest.
MOST_NUMBERS = 40


def exact(value):
    """A number to the last bit."""
    return float(value).hex()


def rounded(value):
    """A number to 9 significant digits, and to 12 decimals."""
    return f"{round(float(value), 12) + 0.0:.9g}"


def probability(value):
    """A number, which may be very small, to 6 significant digits."""
    return f"{float(value):.6g}"


def bits(values):
    """The BLAS kernel, and a digest of numbers that depend on it."""
    return f"{blas_kernel()}:{digest(values)}"


@cache
def blas_kernel():
    """The name of the kernel numpy has of BLAS."""
    np.ones((2, 2)) @ np.ones((2, 2))
    return "+".join(sorted({pool.get("architecture", "?") for pool in threadpool_info()}))


def digest(values):
    """A digest of an array of numbers, and of its shape."""
    array = np.asarray(values, "<f8")
    array = np.where(np.isnan(array), np.nan, array)  # all of them alike
    return digest_of_bytes(f"{array.shape}".encode() + array.tobytes())


def digest_of_bytes(data):
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def digest_of_json(value):
    return digest_of_bytes(json.dumps(value).encode())


def whole(values):
    """Whole numbers, or a digest of many of them."""
    numbers = np.asarray(values).tolist()
    return numbers if len(numbers) <= MOST_NUMBERS else digest_of_json(numbers)


def ranking(selector, number=exact):
    """What every selector has."""
    return {
        "selected": selector.selected_.tolist(),
        "scores": [number(score) for score in selector.scores_],
        "ranking": whole(selector.ranking_),
    }


def filtered(selector):
    """What a filter has: the scores of all columns too."""
    return {**ranking(selector), "feature_scores": digest(selector.feature_scores_)}


def selection(selector):
    """What an information-theoretic selector has."""
    found = ranking(selector)
    found["relevance"] = digest(selector.relevance_)
    found["redundancy"] = digest(selector.redundancy_matrix())
    rows = trace(selector.trace_)
    found["runners_up"] = [row[2] for row in rows if row[1] == 2]
    found["trace"] = digest_of_json(rows)
    if hasattr(selector, "orders_"):
        found["orders"] = selector.orders_.tolist()
        found["sets"] = [Z.tolist() for Z in selector.representative_sets_]
    if hasattr(selector, "p_values_"):
        # The expected value of G is a product of a matrix and a vector.
        found["p_values"] = [probability(p) for p in selector.p_values_]
        found["p_values bits"] = bits(selector.p_values_)
    if selector.stopping_ is not None:
        end = selector.stopping_
        found["stopping"] = [
            end.reason,
            int(end.index),
            exact(end.score),
            probability(end.p_value),
            end.given.tolist(),
        ]
        found["stopping bits"] = bits([end.p_value])
    if selector.target_cuts_ is not None:
        found["target_cuts"] = [exact(cut) for cut in selector.target_cuts_]
    return found


def trace(steps):
    """The winner and the runner-up of each step."""
    return [
        [
            int(row["step"]),
            int(row["place"]),
            int(row["candidate"]),
            exact(row["score"]),
            exact(row["relevance"]),
            int(row["order"]),
            [int(j) for j in row["representative_set"]],
        ]
        for row in steps
    ]


def explanations(selector, X):
    """Of the first and the last column taken, of the first two left, and where it stopped."""
    taken = selector.selected_.tolist()
    left = [j for j in range(selector.n_features_in_) if j not in taken]
    chosen = [*taken[:1], *taken[-1:], *left[:2]]
    if selector.stopping_ is not None:
        chosen.append(int(selector.stopping_.index))
    return {str(j): explanation(selector.explain(j, X)) for j in dict.fromkeys(chosen)}


def explanation(found):
    """The numbers of an explanation; contests and redundancies as digests."""
    contests = [
        [
            contest.step,
            exact(contest.score),
            contest.taken,
            exact(contest.taken_score),
            contest.order,
            list(contest.representative_set),
        ]
        for contest in found.contests
    ]
    return {
        "index": found.index,
        "rank": found.rank,
        "relevance": exact(found.relevance),
        "score": exact(found.score),
        "set": list(found.representative_set),
        "replaced_by": found.replaced_by,
        "redundancy": digest_of_json([[s, exact(v)] for s, v in found.redundancy.items()]),
        "taken": [contest[2] for contest in contests],
        "contests": digest_of_json(contests),
    }


def stability(selector):
    """What a StabilitySelector has."""
    return {
        **ranking(selector),
        "frequencies": digest(selector.frequencies_),
        "intervals": digest(selector.frequency_intervals_),
        "stability": exact(selector.stability_),
        "stability_interval": [rounded(bound) for bound in selector.stability_interval_],
        "stability_interval bits": bits(selector.stability_interval_),
        "selections": digest(selector.selections_),
    }


def comparison(found):
    """What compare_methods found; not how long it took."""
    return {
        "selected": {result.method: list(result.selected) for result in found.results},
        "stability": [rounded(result.stability) for result in found.results],
        "sizes": [result.sizes.tolist() for result in found.results],
        # Distances and means of the model are not ours: a few digits of them will do.
        "errors": [[rounded(error) for error in result.mean_error] for result in found.results],
        "overlap": digest(found.overlap),
        "votes": found.votes,
    }


def codes(found):
    """The codes of a table: how many levels each column has, bytes a code, and a digest of each."""
    columns = [found.column(j) for j in range(found.n_columns)]
    return {
        "levels": whole([column.arity for column in columns]),
        "bytes": whole([column.codes.dtype.itemsize for column in columns]),
        "codes": digest_of_json(
            [digest_of_bytes(column.codes.astype("<u2").tobytes()) for column in columns]
        ),
    }


def encoding(encoder):
    """How an encoder codes each column."""
    columns = [
        [
            column.kind,
            [exact(cut) for cut in column.cuts],
            [level if isinstance(level, str) else exact(level) for level in column.levels],
            column.missing,
            column.unknown,
            column.arity,
        ]
        for column in encoder.columns_
    ]
    return {"kinds": [column[0] for column in columns], "encoder": digest_of_json(columns)}
