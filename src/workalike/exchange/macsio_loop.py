"""The fork's loop: when checkpoints and states are due, and how they grow.

See docs/reference/macsio-model.md#the-forks-loop. Each sleep is taken as a whole interval, the first one before the
first checkpoint. The fork itself cuts sleeps to whole seconds in each of its steps, and uses the first one twice.
"""

from __future__ import annotations

from dataclasses import dataclass

DIGITS = 6  # microseconds


@dataclass(frozen=True)
class Loop:
    """K checkpoints and V plots over (K + 1) blocks of `steps` timesteps."""

    checkpoints: int
    plots: int
    sleeps: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Timesteps between checkpoints."""
        return max(self.plots, 1)

    def block(self, index: int) -> float:
        """Seconds of a block; after the end of the list, the last value applies."""
        if not self.sleeps:
            return 0.0
        return self.sleeps[min(index, len(self.sleeps) - 1)]

    def at(self, step: int) -> float:
        """Seconds since the start at a timestep."""
        whole, part = divmod(step, self.steps)
        before = sum(self.block(i) for i in range(whole))
        return round(before + self.block(whole) * part / self.steps, DIGITS)

    @property
    def runtime(self) -> float:
        return self.at((self.checkpoints + 1) * self.steps)

    def checkpoint_starts(self) -> list[float]:
        return [self.at((c + 1) * self.steps) for c in range(self.checkpoints)]

    def plot_starts(self) -> list[float]:
        return [self.at(p * (self.checkpoints + 1)) for p in range(self.plots)]

    def plot_growth(self, factors: list[float]) -> list[float]:
        """The factor from each plot to the next: the product over the checkpoints since the previous plot.

        A plot is written before it grows, so states are one step later than in Eq. 3 of the paper.
        """
        growth, last = [], 0
        for plot in range(self.plots - 1):
            due = min(plot * (self.checkpoints + 1) // self.steps, self.checkpoints)
            product = 1.0
            for factor in factors[last:due]:
                product *= factor
            growth.append(product)
            last = due
        return growth
