"""Select features of scikit-learn's breast cancer table and write a report."""

import textwrap
from pathlib import Path

import pyarrow
from sklearn.datasets import load_breast_cancer

from hocmim import RobustHOCMIM


def main() -> None:
    """Fit HOCMIM-R, print the selection in order, and write the report."""
    cancer = load_breast_cancer()
    table = pyarrow.table(dict(zip(cancer.feature_names, cancer.data.T, strict=True)))
    diagnosis = cancer.target_names[cancer.target]
    selector = RobustHOCMIM(n_features_to_select=7).fit(table, diagnosis)
    names = selector.feature_names_in_

    n_samples, n_features = table.shape
    print(f"Breast cancer: {n_samples} samples, {n_features} features, 2 classes.")
    print("HOCMIM-R selected, in this order (values in nats):\n")
    print(f"{'':>3}  {'feature':<24} {'I(X;Y)':>7} {'score':>7}  representative set")
    steps = zip(selector.selected_, selector.scores_, selector.representative_sets_, strict=True)
    for rank, (index, score, members) in enumerate(steps, start=1):
        relevance = selector.relevance_[index]
        described = ", ".join(names[members[:3]]) + (", …" if len(members) > 3 else "")
        print(f"{rank:>3}  {names[index]:<24} {relevance:7.4f} {score:7.4f}  {described or '–'}")
    print("\nWhat the last of them adds:\n")
    print(textwrap.fill(selector.explain(int(selector.selected_[-1])).reason, 88))

    page = selector.report(
        report_path(),
        table,
        diagnosis,
        title="Breast cancer: seven of thirty measurements",
        source="Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
        command="make demo",
        overwrite=True,
    )
    print(f"\nThe report, with an explanation of all {n_features} features: {page}")


def report_path() -> Path:
    """Return the path of the report, in the build folder."""
    folder = Path(__file__).parents[1] / "build"
    folder.mkdir(exist_ok=True)
    return folder / "demo-report.html"


if __name__ == "__main__":
    main()
