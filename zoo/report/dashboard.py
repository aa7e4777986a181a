"""The comparison as a run of its own in W&B, beside the runs that it compares."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from zoo.errors import UserError
from zoo.report.text import as_csv, claims_table

Mode = Literal["online", "offline", "disabled"]


def send(report: Mapping[str, Any], page: Path, project: str, mode: Mode) -> str:
    """Every number and every claim as tables, the page as media; returns where it is, or what sends it.

    Args:
        page: comparison.html; a W&B run that is offline is kept in ``wandb`` beside it.

    Raises:
        UserError: W&B does not take it.
    """
    import wandb

    header, *lines = csv.reader(io.StringIO(as_csv(report)))
    numeric = [header.index(name) for name in ("value", "low", "high", "seeds")]
    rows: list[list[Any]] = [[*line] for line in lines]
    for row in rows:
        for column in numeric:
            row[column] = float(row[column]) if row[column] else None
    try:
        with wandb.init(
            project=project, mode=mode, dir=page.parent.resolve(), job_type="comparison",
            name=f"comparison by {report['group_by']}",
            settings=wandb.Settings(silent=True, console="off", init_timeout=30),
        ) as run:  # fmt: skip
            media: dict[str, Any] = {"comparison": wandb.Table(columns=[*header], data=rows)}
            if report["claims"]:
                media["claims"] = wandb.Table(
                    columns=["claim", "verdict", "margin", "p"], data=[[*row] for row in claims_table(report)]
                )
            with page.open(encoding="utf-8") as html:
                run.log({**media, "page": wandb.Html(html, inject=False)})
            return str(run.url) if mode == "online" else f"wandb sync {Path(run.dir).parent}"
    except (wandb.errors.Error, OSError) as error:
        raise UserError(f"W&B does not take the comparison ({error}); the files are written") from error
