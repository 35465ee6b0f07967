"""The oracle: a second, slow implementation of every formula, with dictionaries and loops.

It shares no code with the library. A column is a tuple of ints. A *set* is a tuple of columns: one
variable, whose levels are the cells that occur. Values are in nats. Sums are `math.fsum`: they do
not depend on the order of their terms, so two values with the same terms are equal to the last bit.
"""

from collections import Counter
from functools import cache, lru_cache
from itertools import combinations, product
from math import fsum, inf, log, prod, sqrt

import numpy as np
from scipy.stats import chi2

EULER_GAMMA = 0.57721566490153286061
ESTIMATORS = ("plugin", "shrinkage", "miller_madow", "grassberger", "jeffreys")

# A worked example: ten samples, columns X1..X5 then Y.
WORKED_EXAMPLE = """
    0 1 0 0 1|1   1 1 1 1 0|0   0 0 0 0 0|0   1 0 0 0 0|1   1 1 1 0 0|1
    0 0 0 1 0|1   1 0 1 0 0|0   1 0 1 0 0|0   1 1 0 1 0|1   1 0 0 0 1|1
"""


def worked_example():
    """X (a tuple of five columns) and y (a column)."""
    digits = [int(c) for c in WORKED_EXAMPLE if c in "01"]
    rows = [digits[i : i + 6] for i in range(0, len(digits), 6)]
    *X, y = zip(*rows, strict=True)
    return tuple(X), y


def columns(table):
    """A two-dimensional array as a tuple of columns."""
    return tuple(tuple(column) for column in table.T.tolist())


def bits(value):
    return value / log(2)


def at(X, *indices):
    """Columns of X as a set."""
    return tuple(X[k] for k in indices)


def cells(X):
    """The cell of the set X that each sample is in."""
    return list(zip(*X, strict=True))


def counts(*sets):
    """How often each combination of cells occurs, one cell from each set."""
    return Counter(zip(*(cells(X) for X in sets), strict=True))


def marginal(table, *axes):
    """The table summed over all other axes."""
    sums = Counter()
    for cell, weight in table.items():
        sums[tuple(cell[a] for a in axes)] += weight
    return sums


# -- comparing -------------------------------------------------------------------------------------


def key(value):
    """Values are compared by this key: 12 decimals, as an integer, rounded half to even."""
    return round(value * 1e12)


def largest(items, value):
    """The first of the items with the largest value."""
    return max(items, key=lambda item: key(value(item)))


def smallest(items, value):
    """The first of the items with the smallest value."""
    return min(items, key=lambda item: key(value(item)))


# -- estimators: from a table of weights -----------------------------------------------------------


def entropy_of(table):
    """H = −Σ p log p."""
    n = sum(table.values())
    return -fsum(w / n * log(w / n) for w in table.values())


def mi_of(table):
    """I(X;Y) = Σ p(x,y) log p(x,y) / (p(x) p(y)), cells of the table being (x, y)."""
    n, wx, wy = sum(table.values()), marginal(table, 0), marginal(table, 1)
    return fsum(w / n * log(w * n / (wx[x,] * wy[y,])) for (x, y), w in table.items())


def cmi_of(table):
    """I(X;Y|Z) = Σ p(x,y,z) log p(x,y,z) p(z) / (p(x,z) p(y,z)), cells being (x, y, z)."""
    n = sum(table.values())
    wz, wxz, wyz = marginal(table, 2), marginal(table, 0, 2), marginal(table, 1, 2)
    return fsum(w / n * log(w * wz[z,] / (wxz[x, z] * wyz[y, z])) for (x, y, z), w in table.items())


# -- plug-in ---------------------------------------------------------------------------------------


def plugin_entropy(X):
    return entropy_of(counts(X))


def plugin_mi(X, Y):
    return mi_of(counts(X, Y))


def plugin_cmi(X, Y, Z):
    return cmi_of(counts(X, Y, Z))


# -- Miller–Madow: k observed cells ----------------------------------------------------------------


def miller_madow_entropy(X):
    table = counts(X)
    return entropy_of(table) + (len(table) - 1) / (2 * sum(table.values()))


def miller_madow_mi(X, Y):
    n, k_x, k_y = len(cells(X)), len(counts(X)), len(counts(Y))
    return plugin_mi(X, Y) - (k_x - 1) * (k_y - 1) / (2 * n)


def miller_madow_cmi(X, Y, Z):
    n, xz, yz = len(cells(X)), counts(X, Z), counts(Y, Z)
    bias = 0
    for (z,) in counts(Z):
        k_x = sum(1 for _, other in xz if other == z)
        k_y = sum(1 for _, other in yz if other == z)
        bias += (k_x - 1) * (k_y - 1)
    return plugin_cmi(X, Y, Z) - bias / (2 * n)


# -- Grassberger 2003 ------------------------------------------------------------------------------


def digamma_of_half(m):
    """ψ(m/2) for a whole number m ≥ 1, by ψ(v + 1) = ψ(v) + 1/v."""
    if m % 2 == 0:
        return fsum([-EULER_GAMMA, *(1 / i for i in range(1, m // 2))])
    return fsum([-EULER_GAMMA, -2 * log(2), *(2 / i for i in range(1, m, 2))])


@cache
def grassberger_g(c):
    """G(c) = ψ(c) + ½ (−1)^c [ψ((c+1)/2) − ψ(c/2)]."""
    return digamma_of_half(2 * c) + (-1) ** c / 2 * (digamma_of_half(c + 1) - digamma_of_half(c))


def grassberger_entropy(*sets):
    table = counts(*sets)
    n = sum(table.values())
    return log(n) - fsum(c * grassberger_g(c) for c in table.values()) / n


def grassberger_mi(X, Y):
    if len(counts(X)) == 1 or len(counts(Y)) == 1:
        return 0.0  # the difference of entropies is not 0 for a constant: log N is not G(N)
    H = grassberger_entropy
    return H(X) + H(Y) - H(X, Y)


def grassberger_cmi(X, Y, Z):
    H = grassberger_entropy
    return H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z)


# -- Jeffreys --------------------------------------------------------------------------------------


def add_half(*sets):
    """½ added to every combination of the observed cells of each set, also to empty ones."""
    observed = [[cell for (cell,) in counts(X)] for X in sets]
    table = counts(*sets)
    return {cell: table[cell] + 0.5 for cell in product(*observed)}


def jeffreys_entropy(X):
    return entropy_of(add_half(X))


def jeffreys_mi(X, Y):
    return mi_of(add_half(X, Y))


def jeffreys_cmi(X, Y, Z):
    return cmi_of(add_half(X, Y, Z))


# -- shrinkage towards independence ----------------------------------------------------------------


def probabilities(table):
    n = sum(table.values())
    return {cell: w / n for cell, w in table.items()}


def shrinkage_moments(p, px, py, n):
    """(var, cov, ml2, mlind, ind2) of the intensity: sums over every cell, empty cells included."""
    var, cov, ml2, mlind, ind2 = [], [], [], [], []
    for x, y in product(px, py):
        q, ind, both = p.get((x, y), 0.0), px[x] * py[y], px[x] + py[y]
        var.append(q * (1 - q) / n)
        cov.append(q * ((n - 1) * (both - 2 * ind) + 1 - q) / n**2)
        ml2.append(((n - 1) * q**2 + q) / n)
        mlind.append(q * ((n**2 - 3 * n + 2) * ind + (n - 1) * (both + q) + 1) / n**2)
        ind2.append(
            (
                (n - 1) * (n - 2) * (n - 3) * ind**2
                + (n - 1) * (n - 2) * ind * (both + 4 * q)
                + (n - 1) * (2 * q * both + 2 * q**2 + ind)
                + q
            )
            / n**3
        )
    return tuple(fsum(terms) for terms in (var, cov, ml2, mlind, ind2))


def shrinkage_intensity(X, Y):
    """λ of the table with rows X and columns Y; 1 if p̂ equals the product of its margins."""
    p, px, py = (probabilities(table) for table in (counts(X, Y), counts(X), counts(Y)))
    px, py = ({cell: q for (cell,), q in margin.items()} for margin in (px, py))
    var, cov, ml2, mlind, ind2 = shrinkage_moments(p, px, py, len(cells(X)))
    spread = ml2 + ind2 - 2 * mlind
    return 1.0 if spread <= 0 else min(1.0, max(0.0, (var - cov) / spread))


def shrunk_mi(X, Y, intensity):
    """MI* = Σ p* log(p*/ind), p* = λ ind + (1 − λ) p, over every cell."""
    p, px, py = (probabilities(table) for table in (counts(X, Y), counts(X), counts(Y)))
    terms = []
    for (x,), (y,) in product(px, py):
        ind = px[x,] * py[y,]
        shrunk = intensity * ind + (1 - intensity) * p.get((x, y), 0.0)
        if shrunk > 0:
            terms.append(shrunk * log(shrunk / ind))
    return fsum(terms)


def shrinkage_entropy(X):
    """Plug-in: shrinkage towards independence needs two variables."""
    return plugin_entropy(X)


def shrinkage_mi(X, Y):
    return shrunk_mi(X, Y, shrinkage_intensity(X, Y))


def shrinkage_cmi(X, Y, Z):
    """I*(XZ;Y) − I*(Z;Y), both under the p* of the table with rows (x, z) and columns y."""
    intensity = shrinkage_intensity(X + Z, Y)
    return shrunk_mi(X + Z, Y, intensity) - shrunk_mi(Z, Y, intensity)


# -- by name ---------------------------------------------------------------------------------------
# Values are cached, because the searches below use each of them many times.


@lru_cache(maxsize=100_000)
def entropy(X, estimator="plugin"):
    return globals()[f"{estimator}_entropy"](X)


@lru_cache(maxsize=100_000)
def mi(X, Y, estimator="plugin"):
    return globals()[f"{estimator}_mi"](X, Y)


@lru_cache(maxsize=100_000)
def cmi(X, Y, Z, estimator="plugin"):
    """I(X;Y|Z); the candidate is X. If Z is empty, I(X;Y)."""
    return globals()[f"{estimator}_cmi"](X, Y, Z) if Z else mi(X, Y, estimator)


# -- the forward search ----------------------------------------------------------------------------


def forward(score, D, K, keep=(), exclude=(), costs=None, budget=inf):
    """K of the D features, each the best given those before it, and their scores.

    Features to keep are the only candidates until all are selected; excluded ones never are. With
    costs the best is the one with the largest key per unit of cost (times the cost if the key is
    not positive) of those that the budget still pays for.
    """
    selected, scores = [], []

    def merit(k):
        value = key(score(k, selected))
        if costs is None:
            return value
        return value / costs[k] if value > 0 else value * costs[k]

    def fits(k):
        return costs is None or fsum(costs[j] for j in [*selected, k]) <= budget

    while len(selected) < K:
        rest = [k for k in range(D) if k not in selected and k not in exclude]
        candidates = [k for k in rest if k in keep] or [k for k in rest if fits(k)]
        if not candidates:
            break
        best = max(candidates, key=merit)
        scores.append(score(best, selected))
        selected.append(best)
    return selected, scores


# -- HOCMIM ----------------------------------------------------------------------------------------


def hocmim_terms(x, Y, Z, estimator, form):
    """(J, R) of the candidate x given its representative set Z."""
    relevance = mi(x, Y, estimator)
    if form == "redundancy":
        R = mi(x, Z, estimator) - cmi(x, Z, Y, estimator)
        return relevance - R, R
    J = cmi(x, Y, Z, estimator)
    return J, relevance - J


def hocmim_orders(k, S, X, y, *, max_order, tol, estimator, form, min_support, search):
    """(J, R, Z) at each order n = 1, 2, …, up to the last order of candidate k."""
    x, Y = at(X, k), (y,)
    relevance = mi(x, Y, estimator)

    def terms(Z):
        return hocmim_terms(x, Y, at(X, *Z), estimator, form)

    orders, Z = [], []
    while len(Z) < min(max_order, len(S)):
        occupied = len(counts(at(X, *Z))) if Z else 1
        if len(y) / occupied < min_support:
            break
        if search == "greedy":
            larger = [[*Z, s] for s in S if s not in Z]
        else:
            larger = [list(subset) for subset in combinations(S, len(Z) + 1)]
        Z = largest(larger, lambda Z: terms(Z)[1])
        J, R = terms(Z)
        orders.append((J, R, Z))
        if key(relevance) > 0 and key(J) < tol * key(relevance):
            break
    return orders


def hocmim_candidate(
    k,
    S,
    X,
    y,
    *,
    max_order=15,
    tol=0.01,
    estimator="shrinkage",
    form="redundancy",
    path="last",
    min_support=0,
    search="greedy",
):
    """J, the representative set, its order, and R at every order up to the last."""
    orders = hocmim_orders(
        k,
        S,
        X,
        y,
        max_order=max_order,
        tol=tol,
        estimator=estimator,
        form=form,
        min_support=min_support,
        search=search,
    )
    if not orders:
        return mi(at(X, k), (y,), estimator), [], 0, []
    J, _, Z = orders[-1] if path == "last" else smallest(orders, lambda order: order[0])
    return J, Z, len(Z), [R for _, R, _ in orders]


def hocmim(X, y, K, limits=None, **parameters):
    """(selected, scores, representative sets, orders)."""

    def score(k, S):
        return hocmim_candidate(k, S, X, y, **parameters)[0]

    selected, scores = forward(score, len(X), K, **(limits or {}))
    chosen = [hocmim_candidate(k, selected[:i], X, y, **parameters) for i, k in enumerate(selected)]
    return selected, scores, [Z for _, Z, _, _ in chosen], [n for _, _, n, _ in chosen]


# -- the other criteria: score of candidate k given S, features X, target y ------------------------


def beta_gamma(k, S, X, y, estimator, beta, gamma):
    """I(X_k;Y) − β Σ_j I(X_k;X_j) + γ Σ_j I(X_k;X_j|Y)."""
    x, Y = at(X, k), (y,)
    redundancy = fsum(mi(x, at(X, j), estimator) for j in S)
    conditional = fsum(cmi(x, at(X, j), Y, estimator) for j in S)
    return mi(x, Y, estimator) - beta * redundancy + gamma * conditional


def mim(k, S, X, y, estimator):
    return beta_gamma(k, S, X, y, estimator, 0, 0)


def mifs(k, S, X, y, estimator, beta):
    return beta_gamma(k, S, X, y, estimator, beta, 0)


def mrmr(k, S, X, y, estimator):
    return beta_gamma(k, S, X, y, estimator, 1 / len(S) if S else 0, 0)


def jmi(k, S, X, y, estimator):
    share = 1 / len(S) if S else 0
    return beta_gamma(k, S, X, y, estimator, share, share)


def cife(k, S, X, y, estimator):
    return beta_gamma(k, S, X, y, estimator, 1, 1)


def disr(k, S, X, y, estimator):
    """Σ_j I(X_k X_j;Y) / H(X_k X_j Y)."""
    if not S:
        return mi(at(X, k), (y,), estimator)
    return fsum(joint_shares(k, S, X, y, estimator))


def joint_shares(k, S, X, y, estimator):
    """I(X_k X_j;Y) / H(X_k X_j Y) for each j, 0 where H is 0."""
    shares = []
    for j in S:
        H = entropy((*at(X, k, j), y), estimator)
        shares.append(mi(at(X, k, j), (y,), estimator) / H if H != 0 else 0.0)
    return shares


def icap(k, S, X, y, estimator):
    """I(X_k;Y) − Σ_j max(0, I(X_k;X_j) − I(X_k;X_j|Y))."""
    x, Y = at(X, k), (y,)
    losses = [mi(x, at(X, j), estimator) - cmi(x, at(X, j), Y, estimator) for j in S]
    return mi(x, Y, estimator) - fsum(max(0.0, loss) for loss in losses)


def jmim(k, S, X, y, estimator):
    """min_j I(X_k X_j;Y)."""
    if not S:
        return mi(at(X, k), (y,), estimator)
    return min(mi(at(X, k, j), (y,), estimator) for j in S)


def njmim(k, S, X, y, estimator):
    """min_j I(X_k X_j;Y) / H(X_k X_j Y)."""
    if not S:
        return mi(at(X, k), (y,), estimator)
    return min(joint_shares(k, S, X, y, estimator))


def impurity_gain(X, Y):
    """G(X;Y) = Σ_xy p(x,y)² / p(x) − Σ_y p(y)²."""
    p, px, py = (probabilities(table) for table in (counts(X, Y), counts(X), counts(Y)))
    return fsum(q**2 / px[x,] for (x, _), q in p.items()) - fsum(q**2 for q in py.values())


def jim(k, S, X, y, estimator):
    """Σ_j G(X_k X_j;Y), of any estimator."""
    if not S:
        return impurity_gain(at(X, k), (y,))
    return fsum(impurity_gain(at(X, k, j), (y,)) for j in S)


def cmi_all(k, S, X, y, estimator):
    """I(X_k;Y|S)."""
    return cmi(at(X, k), (y,), at(X, *S), estimator)


def relax_mrmr(k, S, X, y, estimator):
    """JMI − η Σ_j Σ_{i≠j} I(X_k;X_i|X_j), η = 1/(|S|(|S|−1))."""
    if len(S) < 2:
        return jmi(k, S, X, y, estimator)
    eta = 1 / (len(S) * (len(S) - 1))
    pairs = [(i, j) for j in S for i in S if i != j]
    third = fsum(cmi(at(X, k), at(X, i), at(X, j), estimator) for i, j in pairs)
    return jmi(k, S, X, y, estimator) - eta * third


def jmi_up_to(size, k, S, X, y, estimator):
    """Σ over the subsets T ⊆ S of the given size (of size |S| if S is smaller) of I(X_k T;Y)."""
    if not S:
        return mi(at(X, k), (y,), estimator)
    subsets = combinations(S, min(size, len(S)))
    return fsum(mi(at(X, k, *subset), (y,), estimator) for subset in subsets)


def jmi3(k, S, X, y, estimator):
    return jmi_up_to(2, k, S, X, y, estimator)


def jmi4(k, S, X, y, estimator):
    return jmi_up_to(3, k, S, X, y, estimator)


def cmim_up_to(size, k, S, X, y, estimator):
    """min over the subsets T ⊆ S of the given size (of size |S| if S is smaller) of I(X_k;Y|T)."""
    subsets = combinations(S, min(size, len(S)))
    return min(cmi(at(X, k), (y,), at(X, *subset), estimator) for subset in subsets)


def cmim(k, S, X, y, estimator, with_relevance=True):
    """min( I(X_k;Y), min_j I(X_k;Y|X_j) ); without relevance, min_j I(X_k;Y|X_j)."""
    least = cmim_up_to(1, k, S, X, y, estimator)
    return min(mi(at(X, k), (y,), estimator), least) if with_relevance else least


def cmim3(k, S, X, y, estimator):
    return cmim_up_to(2, k, S, X, y, estimator)


def cmim4(k, S, X, y, estimator):
    return cmim_up_to(3, k, S, X, y, estimator)


def representatives(column):
    """[x > t] for t between consecutive observed levels, in the order of t."""
    *thresholds, _ = sorted(set(column))
    return [tuple(int(v > t) for v in column) for t in thresholds]


def cmicot(k, S, X, y, estimator, team_size):
    """The largest score among the representatives of X_k; 0 if it has none."""
    own, Y = representatives(X[k]), (y,)
    if not S:
        return max((mi((b,), Y, estimator) for b in own), default=0.0)
    pool = [g for j in S for g in representatives(X[j])]
    return max((cmicot_score(b, own, pool, Y, estimator, team_size) for b in own), default=0.0)


def are_equivalent(g, h):
    """Whether two binary columns are equal or negations of each other."""
    return g == h or all(a != b for a, b in zip(g, h, strict=True))


def cmicot_score(b, own, pool, Y, estimator, team_size):
    """I(Y; b, h_1..h_{t−1} | g_1..g_s), t = s = team_size, each h and g found greedily."""
    helpers, opponents = (), ()

    def complementary(h):
        return cmi((b,), Y, (*helpers, h), estimator)

    def opposing(g):
        team = (b, *helpers[: len(opponents)])
        return cmi(team, Y, (*opponents, g), estimator)

    while len(helpers) < team_size - 1:
        helpers = (*helpers, largest(pool + own, complementary))
    while len(opponents) < team_size and pool:
        newest = (b, *helpers)[len(opponents)]
        rivals_first = sorted(pool, key=lambda g: not are_equivalent(g, newest))
        opponents = (*opponents, smallest(rivals_first, opposing))
    return cmi((b, *helpers), Y, opponents, estimator)


CRITERIA = {
    "MIM": mim,
    "MIFS": mifs,
    "MRMR": mrmr,
    "JMI": jmi,
    "CIFE": cife,
    "BetaGamma": beta_gamma,
    "DISR": disr,
    "CMIM": cmim,
    "ICAP": icap,
    "JMIM": jmim,
    "NJMIM": njmim,
    "JIM": jim,
    "CMI": cmi_all,
    "RelaxMRMR": relax_mrmr,
    "JMI3": jmi3,
    "JMI4": jmi4,
    "CMIM3": cmim3,
    "CMIM4": cmim4,
    "CMICOT": cmicot,
}


def select(name, X, y, K, estimator="plugin", limits=None, **parameters):
    """(selected, scores) of one of CRITERIA; ``limits`` are arguments of ``forward``."""

    def score(k, S):
        return CRITERIA[name](k, S, X, y, estimator, **parameters)

    return forward(score, len(X), K, **(limits or {}))


def assert_selects_as_hocmim(selector, X, y, **parameters):
    """Check the features, orders, sets (equal) and scores (to 1e-9) of a fitted selector."""
    K = len(selector.selected_)
    selected, scores, sets, orders = hocmim(columns(X), tuple(y.tolist()), K, **parameters)
    assert selector.selected_.tolist() == selected, parameters
    assert selector.orders_.tolist() == orders, parameters
    assert [Z.tolist() for Z in selector.representative_sets_] == sets, parameters
    np.testing.assert_allclose(selector.scores_, scores, rtol=0, atol=1e-9, err_msg=f"{parameters}")


# -- random tables ---------------------------------------------------------------------------------


def random_table(rng, n, D, levels=9, classes=5, ties=True):
    """An (n, D) array of levels and a dependent target. With ties, some columns are copies, copies
    with renamed levels, constant but for a row, or the target itself. A constant is no candidate.
    """
    y = rng.integers(rng.integers(2, classes + 1), size=n)
    y[:2] = 0, 1
    X = rng.integers(rng.integers(2, levels + 1, size=D), size=(n, D))
    for j in range(D):
        other = y if rng.random() < 0.5 else X[:, rng.integers(D)]
        is_copied = rng.random(n) < 0.6 * rng.random()
        X[:, j] = np.where(is_copied, other % (X[:, j].max() + 1), X[:, j])
    if ties:
        for j in rng.permutation(D)[: D // 3]:
            source = X[:, rng.integers(D)]
            renamed = rng.permutation(levels)[source]
            constant = np.full(n, 1)
            kinds = [source, renamed, constant, y % levels]
            X[:, j] = kinds[rng.choice(4, p=[0.4, 0.4, 0.15, 0.05])]
    is_constant = (X[0] == X).all(axis=0)
    X[0, is_constant] = X[0, is_constant] == 0
    return X, y


def random_tables(seed, count, n=(10, 40), D=6, levels=9, **shape):
    """Pairs (X, y): n from a range, D columns, and a random maximum of the number of levels."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        most = int(rng.integers(2, levels + 1))
        yield random_table(rng, int(rng.integers(*n)), D, most, **shape)


# -- HOCMIM-R --------------------------------------------------------------------------------------


def robust_sets_tried(Z, s, n_samples, X, max_order, min_support):
    """Z_1..l and the newcomer s, for l = 0 … |Z|, in this order.

    {s} is always tried. A set with l > 0 is tried while l < max_order and N ≥ min_support · the
    occupied cells of the set itself, s included. Cells only grow with l, so the first set that
    lacks support ends the trial.
    """
    for length in range(min(len(Z) + 1, max_order)):
        larger = [*Z[:length], s]
        if length > 0 and n_samples < min_support * len(counts(at(X, *larger))):
            return
        yield larger


def robust_minimum(k, S, X, y, estimator, max_order, min_support):
    """U and the set Z* that gave it: infinite and empty before anything is selected.

    The empty set is not tried: half of an exclusive or says nothing alone, so that a minimum with
    the relevance in it would be 0 for good. Each {s} is tried, so that U is at most the average.
    Of equal values the first counts: a newcomer has to be lower, and a shorter set comes first.
    """
    U, Z = inf, []
    for s in S:
        sets = list(robust_sets_tried(Z, s, len(y), X, max_order, min_support))

        def term(larger):
            return cmi(at(X, k), (y,), at(X, *larger), estimator)

        lowest = smallest(sets, term)
        if not Z or key(term(lowest)) < key(U):
            U, Z = term(lowest), lowest
    return U, Z


def robust_sigma(x, Y, Z):
    """σ = √((C − 1) Σ_z (k_x(z) − 1) / 2) / N."""
    spread = len(counts(x, Z)) - len(counts(Z))  # Σ_z k_x(z), less one for each z
    return sqrt((len(counts(Y)) - 1) * spread / 2) / len(cells(Y))


def robust_candidate(
    k,
    S,
    X,
    y,
    *,
    max_order=15,
    min_support=3,
    weight=0.3,
    limit=4,
    estimator="miller_madow",
):
    """J, the set Z* of the minimum, U, A and σ; J = I(X;Y) before anything is selected."""
    x, Y = at(X, k), (y,)
    if not S:
        relevance = mi(x, Y, estimator)
        return relevance, [], relevance, relevance, 0.0
    U, Z = robust_minimum(k, S, X, y, estimator, max_order, min_support)
    A = fsum(cmi(x, Y, at(X, s), estimator) for s in S) / len(S)
    sigma = robust_sigma(x, Y, at(X, *Z))
    return U + min(weight * (A - U), limit * sigma), Z, U, A, sigma


def robust_hocmim(X, y, K, limits=None, **parameters):
    """(selected, scores, and what ``robust_candidate`` says of each selected feature)."""

    def score(k, S):
        return robust_candidate(k, S, X, y, **parameters)[0]

    selected, scores = forward(score, len(X), K, **(limits or {}))
    chosen = [robust_candidate(k, selected[:i], X, y, **parameters) for i, k in enumerate(selected)]
    return selected, scores, chosen


# -- interactions ----------------------------------------------------------------------------------


def interaction_information(members, y):
    """T = Σ_{B ⊆ A} (−1)^{|A|−|B|} I(B;Y), plug-in, for the columns A."""
    sizes = range(1, len(members) + 1)
    terms = ((-1) ** (len(members) - size) * plugin_mi(B, (y,))
             for size in sizes for B in combinations(members, size))  # fmt: skip
    return fsum(terms)


def degrees_of_freedom(members, y):
    """Π (a − 1) (C − 1), of the levels that occur."""
    return prod(len(set(column)) - 1 for column in (*members, y))


def screened_levels(n_samples, n_classes, n_bins, size):
    """L: the largest number ≤ n_bins with N ≥ 5 · L^size · C, and at least 2."""
    fitting = [L for L in range(2, n_bins + 1) if n_samples >= 5 * L**size * n_classes]
    return max(fitting, default=2)


def merged(column, L, n_ordered=0):
    """A column of at most L levels, for the screen.

    Of ``n_ordered`` bins, neighbours are merged until L are left: a bin belongs to the part of
    equal frequency that its middle lies in. Missing values, the level after them, stay a level. Of
    categories the L − 1 most frequent stay.
    """
    times = Counter(column)
    bins = sorted(v for v in times if v < n_ordered)
    if n_ordered:
        part, below = {v: L for v in times if v >= n_ordered}, 0
        for v in bins:
            part[v] = L * (2 * below + times[v]) // (2 * sum(times[b] for b in bins))
            below += times[v]
    else:
        frequent = sorted(times, key=lambda v: (-times[v], v))[: L - 1]
        part = {v: frequent.index(v) if v in frequent else L - 1 for v in times}
    return tuple(part[v] for v in column)


def screen(X, y, size, alpha=0.01, most=100):
    """The sets of columns kept, the best first, with G, df and p; columns as they are."""
    if len(y) < 20 * len(set(y)):
        return []
    sets = list(combinations(range(len(X)), size))
    found = []
    for chosen in sets:
        members = at(X, *chosen)
        df = degrees_of_freedom(members, y)
        G = 2 * len(y) * interaction_information(members, y)
        p = chi2.sf(G, df) if df else 1.0
        if p * len(sets) <= alpha:
            found.append((chosen, G, df, p))
    found.sort(key=lambda one: (-key((one[1] - one[2]) / sqrt(2 * one[2])), one[0]))
    return found[:most]


def screen_of_numbers(X, y, bins):
    """(df, p, G) of each pair of columns of numbers, for the number of bins of the smallest p."""
    quantiles = {L: [q / L for q in range(1, L)] for L in bins}
    cut = {L: columns(np.stack([np.digitize(x, np.quantile(x, quantiles[L])) for x in X.T], 1))
           for L in bins}  # fmt: skip
    found = {}
    for pair in combinations(range(X.shape[1]), 2):
        tests = []
        for L in bins:
            members = at(cut[L], *pair)
            df, G = degrees_of_freedom(members, y), 2 * len(y) * interaction_information(members, y)
            tests.append((chi2.sf(G, df), df, G))
        p, df, G = min(tests)
        found[pair] = df, p, G
    return found


def robust_interactions(X, y, K, kept, limits=None, *, estimator="miller_madow", **parameters):
    """(selected, scores, the kept set that each joined with), for HOCMIM-R with kept sets.

    A set W of columns is one variable. Its score is U, or I(W;Y) before anything is selected,
    divided by its price: the number of its columns that are not selected. Compared are the keys of
    U, divided by the price. Of equals a column wins, then the set with fewer members, then that
    with the lower columns.
    """
    limits = limits or {}
    keep, exclude = limits.get("keep", ()), limits.get("exclude", ())
    relevance = [mi(at(X, k), (y,), estimator) for k in range(len(X))]
    sets = {len(X) + w: W for w, W in enumerate(sorted(kept, key=lambda W: (len(W), W)))}
    joined = X + tuple(tuple(cells(at(X, *W))) for W in sets.values())
    selected, scores, joined_with = [], [], []
    names = {"estimator": estimator, **parameters}

    def missing(w):
        return [k for k in sets[w] if k not in selected]

    def score(w):
        if not selected:
            return mi((joined[w],), (y,), estimator)
        order, support = names.get("max_order", 15), names.get("min_support", 3)
        return robust_minimum(w, selected, joined, y, estimator, order, support)[0]

    def is_open(w):
        return not set(sets[w]) & set(exclude) and 0 < len(missing(w)) <= K - len(selected)

    while len(selected) < K:
        rest = [k for k in range(len(X)) if k not in selected and k not in exclude]
        columns_to_keep = [k for k in rest if k in keep]
        merits = {
            k: (key(robust_candidate(k, selected, X, y, **names)[0]), 1)
            for k in columns_to_keep or rest
        }
        if not columns_to_keep:
            merits.update({w: (key(score(w)), len(missing(w))) for w in sets if is_open(w)})
        if not merits:
            break
        best = max(merits, key=lambda k: merits[k][0] / merits[k][1])
        if best in sets:
            new = sorted(missing(best), key=lambda k: (-key(relevance[k]), k))
            value = score(best) / len(new)
        else:
            new, value = [best], robust_candidate(best, selected, X, y, **names)[0]
        scores += [value] * len(new)
        joined_with += [sets.get(best, ())] * len(new)
        selected += new
    return selected, scores, joined_with
