"""The report's colours, the same in text and figures."""

from __future__ import annotations

from workalike.workload.model import Role

INK, MUTED, FAINT, REPLICA = "#1f2933", "#52606d", "#d9e2ec", "#c2410c"
ORIGINAL, EXPECTED = "#1f6f8b", "#a9c5d1"
COLOR_OF_ROLE = {
    Role.CHECKPOINT: "#1f6f8b",
    Role.VISUALIZATION: "#d9902b",
    Role.RESTART: "#7a5195",
    Role.INPUT: "#4f8a4b",
    Role.SCRATCH: "#8c6d31",
    Role.OUTPUT: "#b8557a",
    Role.LOG: "#6b7280",
    Role.OTHER: "#9aa5b1",
}


def color_of(role: Role, position: int = 0) -> str:
    """The colour of a role. Families at further positions of the role are lighter."""
    base = COLOR_OF_ROLE[role].lstrip("#")
    blend = min(0.6, 0.22 * position)
    parts = [int(base[i : i + 2], 16) for i in (0, 2, 4)]
    return "#" + "".join(f"{round(p + (255 - p) * blend):02x}" for p in parts)
