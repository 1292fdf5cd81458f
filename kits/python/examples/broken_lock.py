"""Ricart and Agrawala's algorithm with a mistake, for Conclave to find.

A process that wants to enter compares the sequence numbers alone. With equal numbers both reply, so
two processes that ask at the same time both enter.
"""

from __future__ import annotations

import dataclasses

from conclave import serve
from ricart_agrawala import RicartAgrawala, Stamp


class BrokenLock(RicartAgrawala):
    """Differs from the original in one rule."""

    spec = dataclasses.replace(
        RicartAgrawala.spec, summary="ricart-agrawala with a mistake: equal numbers are not ordered",
        paper=None)

    def comes_first(self, stamp: Stamp) -> bool:
        return self.own.number < stamp.number


if __name__ == "__main__":
    serve(BrokenLock)
