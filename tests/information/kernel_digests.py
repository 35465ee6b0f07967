"""A digest of every kernel with an instruction set of its own, one line for each kernel.

Run as a script under HOCMIM_ISA: ``test_instruction_sets.py`` compares all instruction sets.
"""

import hashlib
from dataclasses import replace

import numpy as np

from hocmim import _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.cmicot import CMICOTCriterion
from hocmim.criteria.cmim import CMIMCriterion
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.information.counting import BlockTerms, Joint
from hocmim.information.estimators import ESTIMATORS

TERMS = ["information", "given_class", "redundancy", "conditional", "joint", "joint_entropy"]


def show(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(name, digest.hexdigest()[:16])


def columns_of(rng, n_samples, arities):
    return [
        Column(rng.integers(a, size=n_samples).astype(np.uint8 if a <= 256 else np.uint16), int(a))
        for a in arities
    ]


def show_terms():
    """All estimators and terms, on bit planes and on samples, in lanes and one by one."""
    for n_samples in (777, 5000):
        rng = np.random.default_rng(n_samples)
        columns = columns_of(rng, n_samples, [*[5] * 34, 1, 2, 3, 4, 9, 9, 40, 300])
        block = Codes.from_columns(columns)
        (y,) = columns_of(rng, n_samples, [3])
        for estimator in ESTIMATORS:
            for planes in (True, False):
                terms = BlockTerms(replace(block, can_have_planes=planes), Joint.of([y]), estimator)
                for width in (1, 2, 4):
                    w = Joint.of(columns[:width])
                    values = [getattr(terms, term)(w) for term in TERMS]
                    show(f"{estimator} {n_samples} {planes} {width}", *values)


def show_criteria():
    """The greedy paths of HOCMIM, the bounded search of CMIM, CMICOT's teams."""
    rng = np.random.default_rng(1)
    columns = columns_of(rng, 900, [2, 3, 5] * 9)
    (y,) = columns_of(rng, 900, [2])
    block = Codes.from_columns(columns)
    for name, criterion in {
        "hocmim": HOCMIMCriterion(max_order=6, tol=0.01),
        "cmim": CMIMCriterion(estimator="plugin"),
        "cmim shrinkage": CMIMCriterion(estimator="shrinkage"),
        "cmicot": CMICOTCriterion(),
    }.items():
        criterion.start(block, y)
        for column in columns[:7]:
            criterion.update(column)
        show(name, criterion.scores())


LEARNT = [
    "is_cut",
    "has_missing",
    "n_levels",
    "n_cuts",
    "n_distinct",
    "most_frequent",
    "n_most_frequent",
    "minimum",
    "maximum",
    "cuts",
    "distinct",
]


def show_encoding():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3000, 6)).round(2)
    values[rng.random(values.shape) < 0.05] = np.nan
    everything = np.arange(6)
    show("survey", *_native.survey(values, 50))
    cuts, n_cuts = _native.quantile_cuts(values, everything, 7)
    show("quantile cuts", cuts, n_cuts)
    classes = (np.nan_to_num(values[:, 0]) > 0).astype(np.int64)
    show("mdlp cuts", *_native.mdlp_cuts(values, everything, classes, 2))
    narrow = np.zeros((6, 3000), np.uint8)
    offsets = np.concatenate([[0], np.cumsum(n_cuts)])
    wide = np.zeros((0, 3000), np.uint16)
    _native.apply_cuts(values, cuts, offsets, n_cuts + 1, everything, narrow, wide)
    show("codes", narrow)
    whole = rng.integers(-3, 9, (3001, 41))
    for X in (rng.normal(size=(3001, 41)), whole.astype(np.int8), whole, whole.astype(np.float32)):
        for array in (X, np.asfortranarray(X)):
            for method in range(2):
                codes = np.zeros((41, 3001), np.uint8)
                rest = np.zeros(0, np.int64), 0, codes, 1, 0, np.empty((0, 0), np.uint64)
                encoding = _native.Encoding(array, method, 5, *rest)
                encoding.encode()
                found = encoding.result()
                show("one pass", codes, *(getattr(found, name) for name in LEARNT))


def show_filters():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(200, 37))
    codes = rng.integers(3, size=(200, 5)).astype(np.int32)
    y = rng.integers(3, size=200).astype(np.int32)
    sums = np.zeros(37), np.zeros(5)
    _native.relieff_block(values, codes, y, np.full(3, 1 / 3), 4, 0, 200, *sums)
    show("relieff", *sums)
    empty, places, none = np.zeros(201, np.int64), np.zeros(0, np.int32), np.zeros(0)
    dense, by_row = np.zeros(37), np.zeros(200)
    p_same = _native.nca_block(
        values, empty, places, none, np.zeros(1, np.int64), places, none, none, np.zeros(200), y,
        0, 200, dense, none.copy(), by_row,
    )  # fmt: skip
    show("nca", dense, by_row, p_same)


def show_separation():
    rng = np.random.default_rng(4)
    native = _native.Columns(600)
    for column in columns_of(rng, 600, [3] * 16):
        native.append(column.codes, column.arity)
    for size in (5, 8, 11):
        print("separation", size, _native.Separation(native, size, False, 10**12).holds())


if __name__ == "__main__":
    show_terms()
    show_criteria()
    show_encoding()
    show_filters()
    show_separation()
