"""Shows how good the generated world is: every property with its target and figure, and a story with all it offers.

python scripts/world.py                      the figures of docs/world.md, in a few minutes
python scripts/world.py --quick              a rough look, in seconds
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from zoo.data.world import Story, World, ceilings, consistent, measure


def main() -> None:
    """Measure, print, and exit with 1 if a property does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the world")
    parser.add_argument("--stories", type=int, default=2000, help="stories measured in each split")
    parser.add_argument(
        "--ngram-tokens", type=int, default=5_000_000, help="tokens that the 5-gram model is trained on"
    )
    parser.add_argument("--samples", type=int, default=500, help="stories that the 5-gram model writes")
    parser.add_argument("--quick", action="store_true", help="200 stories, 200,000 tokens, 50 samples")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    if options.quick:
        options.stories, options.ngram_tokens, options.samples = 200, 200_000, 50
    world, console = World(seed=options.seed), Console()
    show(world.story("test", 0), console)
    sample, train = (measure.stories(world, split, options.stories) for split in ("test", "train"))
    figures = [
        *measure.forms(sample),
        *measure.corruptions(sample),
        *measure.heldout(world, options.stories),
        *ceilings.riddles(sample, train),
        *ceilings.ceilings(sample),
        *ceilings.targets(sample),
        *measure.ngram(world, options.ngram_tokens, options.samples),
    ]
    table = Table(
        "property",
        "target",
        "measured",
        "",
        title=f"World, seed {options.seed}, {options.stories} stories a split",
    )
    for figure in figures:
        table.add_row(
            figure.name, figure.target, figure.measured, "[green]yes" if figure.holds else "[red]NO"
        )
    console.print(table)
    if options.markdown:
        lines = [f"| {f.name} | {f.target} | {f.measured} | {'yes' if f.holds else 'NO'} |" for f in figures]
        head = "| property | target | measured | holds |\n|---|---|---|---|\n"
        options.markdown.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    speeds(world, console)
    raise SystemExit(not all(figure.holds for figure in figures))


def show(story: Story, console: Console) -> None:
    """One story and what can be asked about it."""
    console.print(f"[bold]{story.headline}[/bold]  ({story.topic}, {story.mood})", highlight=False)
    for sentence, translation in zip(story.sentences, story.translation, strict=True):
        console.print(f"  {sentence.text}\n    [dim]{translation}[/dim]", highlight=False)
    names = (f"{story.text[e.start : e.end]}/{e.type}{'*' if e.marked else ''}" for e in story.entities)
    console.print("names (* settled later):", ", ".join(names), highlight=False)
    for question in story.questions[:6]:
        console.print(
            f"  {question.text} [bold]{question.answer}[/bold]{' *' if question.marked else ''}",
            highlight=False,
        )
    for text, label in story.statements:
        console.print(f"  {label:8}{text}", highlight=False)
    for turn in story.dialogue:
        console.print(f"  - {turn}", highlight=False)


def speeds(world: World, console: Console, n: int = 1000) -> None:
    """How many stories a second are written and read."""
    start = time.perf_counter()
    texts = [world.story("validation", i).text for i in range(n)]
    written = time.perf_counter()
    for text in texts:
        consistent(text)
    read = time.perf_counter()
    console.print(
        f"{n / (written - start):,.0f} stories a second written, {n / (read - written):,.0f} read, on one core"
    )


if __name__ == "__main__":
    main()
