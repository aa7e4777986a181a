"""What a person sees: progress with loss, speed and time left, validation lines, samples."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

console = Console(highlight=False, soft_wrap=True)
_QUIET_EVERY = 10.0  # seconds between progress lines where there is no terminal to redraw


class Display:
    """A progress bar on a terminal, a line now and then elsewhere."""

    def __init__(self, updates: int) -> None:
        self.updates = updates
        self._bar: Progress | None = None
        self._task: Any = None
        self._printed = 0.0
        self._begun: tuple[float, int] | None = None

    def metrics(self, update: int, found: dict[str, float]) -> None:
        """After some updates."""
        text = f"loss {found['train/loss']:.3f}  {found['speed/tokens_per_s']:,.0f} tokens/s"
        if console.is_terminal and sys.stdout.isatty():
            self._draw(update, text)
            return
        now = time.monotonic()
        if self._begun is None:
            self._begun = now, update
        if now - self._printed >= _QUIET_EVERY or update == self.updates:
            self._printed = now
            console.print(f"update {update:>5}/{self.updates}  {text}{self._left(now, update)}")

    def _left(self, now: float, update: int) -> str:
        assert self._begun is not None
        begun, first = self._begun
        if update <= first or update == self.updates:
            return ""
        left = (now - begun) / (update - first) * (self.updates - update)
        return f"  {int(left // 60)}:{int(left % 60):02d} left"

    def _draw(self, update: int, text: str) -> None:
        if self._bar is None:
            self._bar = Progress(
                TextColumn("update {task.completed}/{task.total}"),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=self.updates, text=text)
        self._bar.update(self._task, completed=update, text=text)

    def validation(self, update: int, found: dict[str, float]) -> None:
        """After a validation."""
        parts = [f"held-out loss {found['val/loss']:.3f}", f"accuracy {found['val/accuracy']:.1%}"]
        if "val/next_sentence_accuracy" in found:
            parts.append(f"next sentence {found['val/next_sentence_accuracy']:.1%}")
        console.print(f"update {update:>5}/{self.updates}  [bold]{', '.join(parts)}[/bold]")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __getstate__(self) -> dict[str, Any]:
        # A spawned rank draws nothing of its parent's bar.
        return {**self.__dict__, "_bar": None, "_task": None}
