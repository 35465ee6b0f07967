"""The three measured calls of hocmim: ``fit``, the search alone, and encoding alone."""

from __future__ import annotations

from typing import Any

from tables import as_codes


def prepare(X: Any, y: Any, matrix: Any) -> dict[str, Any]:
    """The inputs of all three calls, made before the timing starts."""
    return {"X": X, "y": y, "codes": as_codes(matrix, y) if matrix is not None else None}


def run(data: dict[str, Any], case: dict[str, Any]) -> list[int]:
    """Select ``case["k"]`` columns; return them in order."""
    return {"fit": _fit, "search": _search, "encode": _encode}[case["kind"]](data, case)


def _selector(case: dict[str, Any]) -> Any:
    from hocmim import make_selector

    return make_selector(
        case["method"],
        n_features_to_select=case["k"],
        n_jobs=case["threads"],
        **case.get("options", {}),
    )


def _fit(data: dict[str, Any], case: dict[str, Any]) -> list[int]:
    return _selector(case).fit(data["X"], data["y"]).selected_.tolist()


def _search(data: dict[str, Any], case: dict[str, Any]) -> list[int]:
    from hocmim.search.engines.local import LocalEngine
    from hocmim.search.loop import forward_search

    codes, y = data["codes"]
    selector = _selector(case)
    selector.n_features_in_ = codes.n_columns  # set by fit otherwise
    with LocalEngine(codes, y, selector.make_criterion(), n_jobs=case["threads"]) as engine:
        return [step.index for step in forward_search(engine, case["k"]).steps]


def _encode(data: dict[str, Any], case: dict[str, Any]) -> list[int]:
    from hocmim import Encoder

    codes = Encoder(n_jobs=case["threads"]).fit_transform(data["X"])
    return [codes.n_columns]
