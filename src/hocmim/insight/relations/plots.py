"""A picture of interactions, by matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from hocmim.insight.plots import BLUE, GREY, ORANGE, make_axes, remove_frame, short_name
from hocmim.insight.relations.interactions import Interactions
from hocmim.parameters import Number, check_value


def interaction_chart(interactions: Interactions, n: int, ax: Any) -> Any:
    """Draw the first n interactions as bars: orange synergy, blue redundancy, grey within chance.

    A grey line behind each bar is how far chance can move the value.
    """
    check_value("n", n, Number(1, is_whole=True))
    rows = interactions.rows[:n]
    ax = ax or make_axes((8.0, 1.2 + 0.32 * max(len(rows), 3)))
    at = np.arange(len(rows))
    colours = {"synergy": ORANGE, "redundancy": BLUE}
    noise = np.array([row.noise for row in rows])
    ax.hlines(at, -noise, noise, color=GREY, lw=7, alpha=0.45, label="within chance")
    for kind in ("synergy", "redundancy", "within chance", "too few rows"):
        places = [place for place, row in enumerate(rows) if row.kind == kind]
        if places:
            label = kind if kind in colours else None
            values = [rows[place].value for place in places]
            ax.barh(places, values, height=0.4, color=colours.get(kind, GREY), label=label)
    labels = [" × ".join(short_name(name) for name in row.features) for row in rows]
    ax.set_yticks(at, labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.axvline(0, color=GREY, lw=1)
    ax.set_xlabel("nats")
    remove_frame(ax, keep=("bottom",))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False)
    return ax
