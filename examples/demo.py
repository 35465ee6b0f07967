"""Select features of scikit-learn's breast cancer table, say why, and write a page on it."""

from pathlib import Path

import pyarrow
from sklearn.datasets import load_breast_cancer

from hocmim import HOCMIM


def main() -> None:
    """Fit HOCMIM, print what it chose, in order, and write the report."""
    cancer = load_breast_cancer()
    table = pyarrow.table(dict(zip(cancer.feature_names, cancer.data.T, strict=True)))
    diagnosis = cancer.target_names[cancer.target]
    selector = HOCMIM(n_features_to_select=10).fit(table, diagnosis)
    names = selector.feature_names_in_

    n_samples, n_features = table.shape
    print(f"Breast cancer: {n_samples} samples, {n_features} features, 2 classes.")
    print("HOCMIM chose, in this order (values in nats):\n")
    print(f"{'':>3}  {'feature':<24} {'I(X;Y)':>7} {'score':>7}  representative set")
    steps = zip(selector.selected_, selector.scores_, selector.representative_sets_, strict=True)
    for rank, (index, score, members) in enumerate(steps, start=1):
        relevance = selector.relevance_[index]
        described = ", ".join(names[members[:3]]) + (", …" if len(members) > 3 else "")
        print(f"{rank:>3}  {names[index]:<24} {relevance:7.4f} {score:7.4f}  {described or '–'}")
    print(f"\nWhere it stopped looking (max_order={selector.max_order}, tol={selector.tol}):")
    for rank, order in enumerate(selector.orders_[1:], start=2):
        print(f"{rank:>3}  {why_it_stopped(selector, rank, order)}")

    page = selector.report(
        place_of_page(),
        table,
        diagnosis,
        title="Breast cancer: ten of thirty measurements",
        source="Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
        command="make demo",
        overwrite=True,
    )
    print(f"\nThe report, with the reasons for all {n_features} features: {page}")


def place_of_page() -> Path:
    """Where the report goes: the folder of things built."""
    folder = Path(__file__).parents[1] / "build"
    folder.mkdir(exist_ok=True)
    return folder / "demo-report.html"


def why_it_stopped(selector: HOCMIM, rank: int, order: int) -> str:
    """Why the representative set of the feature of this rank has the size it has."""
    relevance = selector.relevance_[selector.selected_[rank - 1]]
    if selector.scores_[rank - 1] < selector.tol * relevance:
        reason = "less than 1 % of its relevance was new: redundant"
    elif order == rank - 1:
        reason = "all features selected before it were taken into account"
    else:
        reason = "the largest order allowed was reached"
    return f"order {order}: {reason}"


if __name__ == "__main__":
    main()
