"""The page of a suite: one picture and its numbers, self-contained and without scripts."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from workalike.facts.records import FloatArray
from workalike.fleet.suite.choice import Choice
from workalike.fleet.suite.features import WEIGHED, Measured
from workalike.fleet.suite.words import METHOD, sentences
from workalike.fleet.suite.write import Member

WIDTH, HEIGHT, BAR_LEFT = 920, 440, 560
HUES = ("#12586f", "#b3541e", "#4d7c2f", "#7a3b8f", "#946c00", "#b3261e", "#2d5bb8", "#5f5f5f")


def suite_page(measured: Measured, choice: Choice, members: list[Member]) -> str:
    """HTML: a map of the logs, and each class's shares of the centre."""
    from workalike.report.page import environment  # the report and its libraries: only where a page is made

    first, *classes, covered, stable = sentences(measured, choice, members)
    numbers = ["Weight", "Ranks", "Logs", *(f"% of {n}" for n in WEIGHED), "Like it, %", "Found again, %"]
    rows = [
        [
            m.name, str(m.weight), f"{m.ranks:,}", f"{len(m.stands_for.members):,}",
            *(f"{100 * s:.3g}" for s in m.stands_for.shares.values()), f"{100 * m.stands_for.likeness:.3g}",
            f"{100 * m.stands_for.found_again:.3g}",
        ]
        for m in members
    ]  # fmt: skip
    return (
        environment("workalike.fleet.suite")
        .get_template("suite.html")
        .render(
            first=first,
            covered=covered,
            stable=stable,
            picture=Markup(picture(measured, choice)),  # our own markup and numbers, no name of a log
            heads=[("Class", "name"), *((text, "n") for text in numbers)],
            rows=rows,
            method=METHOD,
            classes=classes,
        )
    )


def picture(measured: Measured, choice: Choice) -> str:
    """SVG: the map and the bars."""
    places = _flat(measured.values, choice)
    weight = measured.weights[choice.item]
    size = 2 + 7 * np.sqrt(weight / weight.max())
    parts = [
        f'<svg role="img" viewBox="0 0 {WIDTH} {HEIGHT}"><title>Map of the logs, and shares of each class</title>'
    ]
    for place, row in enumerate(choice.item.tolist()):
        x, y = places[place]
        hue = HUES[int(choice.of_log[row]) % len(HUES)]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size[place]:.1f}" fill="{hue}" fill-opacity=".35"/>'
        )
    row_of = {row: place for place, row in enumerate(choice.item.tolist())}
    for number, each in enumerate(choice.classes):
        x, y = places[row_of[each.representative]]
        hue = HUES[number % len(HUES)]
        parts.append(
            f'<rect x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="{hue}" stroke="currentColor"/>'
            f'<text x="{x - 3:.1f}" y="{y - 9:.1f}">{number + 1}</text>'
        )
    return "".join([*parts, *_bars(choice), "</svg>"])


def _flat(values: FloatArray, choice: Choice) -> FloatArray:
    """float64[items, 2], places on the left half, by the two principal directions."""
    centred = values[choice.item] - values[choice.item].mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ directions[:2].T
    if flat.shape[1] < 2:
        flat = np.hstack([flat, np.zeros((len(flat), 2 - flat.shape[1]))])
    low, high = flat.min(axis=0), flat.max(axis=0)
    unit = (flat - low) / np.where(high > low, high - low, 1)
    return np.asarray(np.array([30, 30]) + unit * np.array([BAR_LEFT - 100, HEIGHT - 70]))


def _bars(choice: Choice) -> list[str]:
    """One stacked bar for each of what the classes are weighed by."""
    step = (WIDTH - BAR_LEFT) / len(WEIGHED)
    tall = HEIGHT - 70
    parts = []
    for place, name in enumerate(WEIGHED):
        left, top = BAR_LEFT + place * step, 30.0
        for number, each in enumerate(choice.classes):
            part = tall * each.shares[name]
            hue = HUES[number % len(HUES)]
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{0.6 * step:.1f}" height="{part:.1f}" fill="{hue}">'
                f"<title>class {number + 1}: {100 * each.shares[name]:.3g} % of {name}</title></rect>"
            )
            if part > 14:
                parts.append(
                    f'<text x="{left + 0.65 * step:.1f}" y="{top + part / 2 + 4:.1f}">{number + 1}</text>'
                )
            top += part
        parts.append(f'<text x="{left:.1f}" y="{HEIGHT - 15}">{name.removesuffix(" time")}</text>')
    return parts
