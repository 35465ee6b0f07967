"""Counting by bit planes, by samples and by splitting cells: the same terms, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest

from hocmim._native import Term
from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint

TERMS = ["information", "given_class", "redundancy", "conditional", "joint", "joint_entropy"]
ESTIMATORS = ["plugin", "shrinkage", "miller_madow", "grassberger"]


def block_and_target(n_samples, arities, n_classes, n_cells, seed=0):
    rng = np.random.default_rng(seed)
    columns = [Column(rng.integers(a, size=n_samples).astype(np.uint8), a) for a in arities]
    y = Column(rng.integers(n_classes, size=n_samples).astype(np.uint8), n_classes)
    w = Column(rng.integers(n_cells, size=n_samples).astype(np.uint8), n_cells)
    return Codes.from_columns(columns), Joint.of([y]), Joint.of([w])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("n_samples", [2, 5, 63, 64, 65, 777, 4096, 4097])
def test_planes_and_samples_give_the_same_bits(n_samples, term, estimator):
    """In lanes and one by one, with the counts of X and Y kept and without."""
    arities = [1, 2, 3, 5, 9, *[5] * 8]
    block, y, w = block_and_target(n_samples, arities, 3, 7, seed=n_samples)
    terms = BlockTerms(block, y, estimator)
    assert terms.planes.in_lanes == (n_samples <= 4096)
    by_samples = np.empty((1, len(arities)))
    terms._by_samples([getattr(Term, term)], w, y, None, by_samples)
    for keeps_rows in (True, False):
        found = np.empty((1, len(arities)))
        evaluator = terms.plane_terms(y, keeps_rows=keeps_rows)
        evaluator.evaluate(w.masks, [getattr(Term, term)], found)
        assert found.tobytes() == by_samples.tobytes()
        which = np.array([12, 3, 0, 5])
        evaluator.evaluate(w.masks, [getattr(Term, term)], found[:, :4], which)
        assert found[0, :4].tolist() == by_samples[0, which].tolist()


@pytest.mark.parametrize("n_samples", [70, 4097])
def test_planes_of_the_encoder_give_the_same_bits(n_samples):
    """In every block of the table, also if the block ends among columns of one group."""
    arities = [5] * 30 + [2, 3, 1, 9, 12, 4] * 20
    block, y, w = block_and_target(n_samples, arities, 3, 7)
    with_planes = Encoder(n_bins=12).fit_transform(block.narrow.T, plane_classes=3)
    assert with_planes.made_planes
    plain = replace(with_planes, made_planes=())
    for start, stop in ((0, len(arities)), (0, 17), (5, 40), (17, 84), (83, 84)):
        expected, found = (
            BlockTerms(codes.block(start, stop), y, "plugin") for codes in (plain, with_planes)
        )
        assert found.relevance().tobytes() == expected.relevance().tobytes()
        assert found.conditional(w).tobytes() == expected.conditional(w).tobytes()


def test_planes_of_other_columns_are_refused():
    block, y, _ = block_and_target(70, [5] * 16, 3, 7)
    others, _, _ = block_and_target(70, [4] * 16, 3, 7)
    made = Encoder().fit_transform(others.narrow.T, plane_classes=3).made_planes
    with pytest.raises(ValueError, match="not of these columns"):
        BlockTerms(replace(block, made_planes=made), y, "plugin").relevance()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 40])
@pytest.mark.parametrize("n_cells", [1, 2, 50, 400, 3000])
@pytest.mark.parametrize("n_samples", [2, 30, 1000, 20000])
def test_redundancy_of_columns_side_by_side_is_that_of_one_by_one(n_samples, n_cells, n_classes):
    """With cells of a few samples and of thousands, and columns of too many levels in between."""
    rng = np.random.default_rng([n_samples, n_cells, n_classes])
    arities = [*rng.integers(1, 9, size=70), 16, 17, 200, 300]
    columns = [
        Column(rng.integers(a, size=n_samples).astype(np.uint8 if a <= 256 else np.uint16), int(a))
        for a in rng.permutation(arities)
    ]
    skewed = (rng.random(n_samples) ** 3 * n_cells).astype(np.uint16)
    y = Column(rng.integers(n_classes, size=n_samples).astype(np.uint8), n_classes)
    w = Joint.of([Column(skewed, n_cells)])
    block = replace(Codes.from_columns(columns), can_have_planes=False)
    terms = BlockTerms(block, Joint.of([y]), "shrinkage")
    expected = terms.information(w) - terms.given_class(w)
    assert terms.redundancy(w).tobytes() == expected.tobytes()
    which = np.array([73, 5, 6, 7, 72, 0])
    assert terms.redundancy(w, which).tolist() == expected[which].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [300, 20_000, 140_000])
def test_every_level_of_a_path_is_the_redundancy_with_its_set(n, n_classes):
    """To the last bit, whatever the cells hold: counted by splitting cells, and from the set."""
    rng = np.random.default_rng([n, n_classes])
    shares = [rng.dirichlet(np.full(arity, 3.0)) for arity in [2, 3, 4, 5] * 4]
    columns = [
        Column(rng.choice(len(share), size=n, p=share).astype(np.uint8), len(share))
        for share in shares
    ]
    y = Column(rng.integers(n_classes, size=n).astype(np.uint8), n_classes)
    block, selected = Codes.from_columns(columns[:4]), columns[4:]
    criterion = HOCMIMCriterion(max_order=9, tol=-1e9)  # no path ends early
    criterion.start(block, y)
    for column in selected:
        criterion.update(column)
    criterion.scores()
    assert criterion.order.tolist() == [9] * 4
    terms = BlockTerms(replace(block, can_have_planes=False), Joint.of([y]), "shrinkage")
    for j, members in enumerate(criterion.member):
        for level in range(9):
            sets = [
                Joint.of([selected[s] for s in (*members[:level], last)])
                for last in range(len(selected))
                if last not in members[:level]
            ]
            which = np.array([j])
            found = [
                float(terms.information(w, which)[0] - terms.given_class(w, which)[0]) for w in sets
            ]
            assert criterion.redundancy[j, level] in found
            assert comparison_key(criterion.redundancy[j, level]) == comparison_key(found).max()


def test_positions_are_given_once():
    block, y, w = block_and_target(100, [2, 3], 2, 2)
    terms = BlockTerms(block, y, "plugin")
    with pytest.raises(ValueError, match="twice"):
        terms.conditional(w, np.array([1, 1]))


def test_masks_of_a_column_are_those_of_its_cells():
    """Also where a level does not occur, or there are too many levels for a byte."""
    rng = np.random.default_rng(5)
    block, y, _ = block_and_target(300, [2, 5], 2, 2)
    with_gaps = Column(rng.choice([0, 3], 300).astype(np.uint8), 5)
    wide = Column(rng.integers(4, size=300).astype(np.uint16), 4)
    for column in (with_gaps, wide):
        one = Joint.of([column])
        again = Joint(one.cells, one.n_cells)
        for estimator in ESTIMATORS:
            terms = BlockTerms(block, y, estimator)
            assert terms.redundancy(one).tolist() == terms.redundancy(again).tolist()


@pytest.mark.parametrize("estimator", [*ESTIMATORS, "jeffreys"])
def test_a_block_of_columns_with_and_without_planes(estimator):
    rng = np.random.default_rng(3)
    block, y, w = block_and_target(400, [2, 200, 5, 30, 3], 2, 4)
    assert not BlockTerms(block, y, estimator).pays_by_planes(8, None).all()
    found = BlockTerms(block, y, estimator).conditional(w)
    one_by_one = [
        BlockTerms(block.block(j, j + 1), y, estimator).conditional(w)[0] for j in range(5)
    ]
    assert found.tolist() == one_by_one
    which = rng.permutation(5)
    assert BlockTerms(block, y, estimator).conditional(w, which).tolist() == found[which].tolist()


def test_two_terms_at_once_are_the_terms_one_by_one():
    block, y, w = block_and_target(300, [2, 5, 40], 3, 5)
    terms = BlockTerms(block, y, "plugin")
    joint, entropy = terms.joint_and_entropy(w)
    assert joint.tolist() == terms.joint(w).tolist()
    assert entropy.tolist() == terms.joint_entropy(w).tolist()
