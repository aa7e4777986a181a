"""The rows of one .txt, .jsonl, .csv, .tsv or .parquet file: dictionaries of fields."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from zoo.data.sources.source import reason
from zoo.errors import UserError

Row = dict[str, Any]

FORMATS = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "txt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
DOCUMENTS = ("file", "blank_lines", "lines")


def format_of(name: str) -> str | None:
    """The format that the suffix of `name` stands for, if any."""
    return FORMATS.get(PurePosixPath(name).suffix.lower())


def text_of(row: Row, field: str, name: str) -> str | None:
    """The text in `field` of a row of `name`; None where it is null. `UserError` where none is."""
    if field not in row:
        raise UserError(
            f"{name} has no field {field!r} (but {', '.join(map(str, row)) or 'none'}): set data.field"
        )
    value = row[field]
    if value is None:
        return None
    if not isinstance(value, str):
        raise UserError(
            f"field {field!r} of {name} holds {type(value).__name__}, not text: set data.field to one of text"
        )
    # JSON can escape half a surrogate pair, which is no character: "?" stands for it, as in any text so
    # mended.
    return value.encode("utf-8", "replace").decode()


def rows_of(
    stream: IO[bytes], name: str, format: str, encoding: str, documents: str, field: str
) -> Iterator[Row]:
    """The rows of the file `name`. A text file has one field, `field`, and a row for each of its `documents`.

    Raises `UserError` for anything that is not what `format` says, with the line.
    """
    if format == "parquet":
        yield from _parquet(stream, name)
        return
    try:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="")
        lines = _no_zeros(text, name)
        if format == "txt":
            yield from ({field: document} for document in _documents(lines, documents))
        elif format == "jsonl":
            yield from _jsonl(lines, name)
        else:
            yield from _csv(lines, name, "\t" if format == "tsv" else ",")
    except UnicodeError as error:
        raise UserError(
            f"{name} is not text ({error}): set data.encoding, e.g. latin-1, or convert it"
        ) from error


def _no_zeros(text: IO[str], name: str) -> Iterator[str]:
    for line in text:
        if "\0" in line:
            raise UserError(
                f"{name} is a binary file (it has zero bytes): give text, or set data.encoding, e.g. utf-16"
            )
        yield line


def _documents(lines: Iterator[str], documents: str) -> Iterator[str]:
    if documents == "lines":
        yield from (stripped for line in lines if (stripped := line.strip()))
        return
    part: list[str] = []
    for line in lines:
        if documents == "file" or line.strip():
            part.append(line)
        elif part:
            yield "".join(part).rstrip("\r\n")
            part = []
    if part:
        yield "".join(part) if documents == "file" else "".join(part).rstrip("\r\n")


def _jsonl(lines: Iterator[str], name: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(
                f"line {number} of {name} is not JSON ({error.msg}): mend or remove it"
            ) from error
        if not isinstance(row, dict):
            raise UserError(
                f'line {number} of {name} is not a JSON object of fields: write {{"text": ...}} on each line'
            )
        yield row


def _csv(lines: Iterator[str], name: str, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the default refuses documents above 128 KB
    reader = csv.DictReader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                raise UserError(
                    f"line {reader.line_num} of {name} has more or fewer values than the header: mend it"
                )
            yield row
    except csv.Error as error:
        raise UserError(
            f"line {reader.line_num} of {name} cannot be read ({error}): quote the text, or mend it"
        ) from error


def _parquet(stream: IO[bytes], name: str) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Parquet is read from its end: what cannot seek is held in memory.
    file = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        for batch in pq.ParquetFile(file).iter_batches():
            yield from batch.to_pylist()
    except pa.ArrowException as error:
        raise UserError(
            f"{name} is not a whole Parquet file ({reason(error)}): check it, or fetch it again"
        ) from error
