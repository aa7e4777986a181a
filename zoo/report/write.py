"""The comparison's files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.errors import UserError
from zoo.report.page import page
from zoo.report.text import as_csv, as_json, markdown


def write(report: Mapping[str, Any], out: Path, date: str) -> list[Path]:
    """comparison.html, .md, .csv and .json in ``out``; the same bytes for the same runs and date.

    Raises:
        UserError: ``out`` cannot be written to.
    """
    texts = {
        "html": page(report, out, date),
        "md": markdown(report, date),
        "csv": as_csv(report),
        "json": as_json(report, date),
    }
    return write_texts({f"comparison.{kind}": text for kind, text in texts.items()}, out)


def write_texts(texts: Mapping[str, str], out: Path) -> list[Path]:
    """Files of these names in ``out``, which is made if need be.

    Raises:
        UserError: ``out`` cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [_write(out / name, text) for name, text in texts.items()]
    except OSError as error:
        raise UserError(f"out={out} cannot be written to: {error.strerror}") from error


def _write(path: Path, text: str) -> Path:
    """Written beside, then renamed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8", newline="\n")
    return beside.replace(path)
