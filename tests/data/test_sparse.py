"""Damaged sparse matrices are recognised before anything reads them."""

import numpy as np
import pytest
from scipy import sparse

import hocmim
from coded import encode
from hocmim.errors import InvalidTableError

Y = np.arange(40) % 2
DENSE = np.eye(40)[:, :6]


def changed(format, **changes):
    """A sparse matrix of this format, whose arrays are changed after it was made."""
    matrix = sparse.csr_array(DENSE).asformat(format)
    for name, change in changes.items():
        array = getattr(matrix, name).copy()
        array[change[0]] = change[1]
        setattr(matrix, name, array)
    return matrix


DAMAGED = {
    "csr, index too large": lambda: changed("csr", indices=(0, 10**6)),
    "csr, negative index": lambda: changed("csr", indices=(0, -5)),
    "csr, pointer too large": lambda: changed("csr", indptr=(slice(3, None), 10**7)),
    "csr, pointers decrease": lambda: changed("csr", indptr=(3, 5)),
    "csr, first pointer": lambda: changed("csr", indptr=(0, 1)),
    "csc, index too large": lambda: changed("csc", indices=(0, 40)),
    "csc, pointer too large": lambda: changed("csc", indptr=(-1, 10**8)),
    "bsr, index too large": lambda: changed("bsr", indices=(0, 10**8)),
    "lil, index too large": lambda: changed("lil", rows=(0, [10**8])),
    "lil, fewer values": lambda: changed("lil", data=(0, [])),
}


def too_few_values():
    matrix = sparse.csc_array(DENSE)
    matrix.data = matrix.data[:2]
    return matrix


def coo(row=0, col=0):
    matrix = sparse.coo_array(DENSE)
    matrix.coords = (matrix.coords[0] + row, matrix.coords[1] + col)
    return matrix


def dok():
    matrix = sparse.dok_array(DENSE)
    matrix._dict[(10**8, 3)] = 1.0
    return matrix


DAMAGED |= {
    "csc, too few values": too_few_values,
    "coo, row too large": lambda: coo(row=10**8),
    "coo, negative column": lambda: coo(col=-3),
    "dok, row too large": dok,
}


def explain_the_last(selector, X):
    """Explain a column that was not selected: its codes are made of X."""
    return selector.explain(int(np.argmax(selector.ranking_)), X)


ENTRY_POINTS = {
    "fit": lambda X: hocmim.MIM(2).fit(X, Y),
    "fit of a filter": lambda X: hocmim.FisherScore(2).fit(X, Y),
    "transform": lambda X: hocmim.MIM(2).fit(DENSE, Y).transform(X),
    "explain": lambda X: explain_the_last(hocmim.MIM(1).fit(DENSE, Y), X),
    "encode": lambda X: encode(X),
    "entropy": lambda X: hocmim.entropy(X),
    "mi": lambda X: hocmim.mi(X, Y),
    "check_table": lambda X: hocmim.check_table(X, Y),
    "stability": lambda X: hocmim.StabilitySelector(hocmim.MIM(2), n_resamples=2).fit(X, Y),
    "compare": lambda X: hocmim.compare_methods(X, Y, ["mim"]),
}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_matrix_is_an_error(damage, entry):
    with pytest.raises(InvalidTableError, match="sparse matrix X is damaged"):
        ENTRY_POINTS[entry](DAMAGED[damage]())


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_every_sound_format_is_read(format):
    codes = encode(sparse.csr_array(DENSE).asformat(format))
    np.testing.assert_array_equal(codes.narrow, encode(DENSE).narrow)
