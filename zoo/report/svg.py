"""Small drawings for the page: line charts as SVG, heat maps as PNG, both as text that needs nothing from elsewhere."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

_WIDTH, _HEIGHT = 380, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 18, 38
_DASHES = ("none", "7 4", "2 4", "10 3 2 3", "4 2", "1 3")  # series differ without their colour too


def chart(
    series: Sequence[Mapping[str, Any]],
    *,
    title: str,
    x: str,
    y: str,
    bounds: Mapping[str, float] | None = None,
) -> str:
    """Lines over a common x.

    Args:
        series: ``{"index": colour, "points": [(x, y) or (x, y, low, high), ...]}``; low and high make a band.
        title: read out in place of the drawing.
        bounds: horizontal lines by name.
    """
    points = [point for one in series for point in one["points"]]
    bounds = bounds or {}
    xs = [point[0] for point in points]
    ys = [value for point in points for value in point[1:] if value is not None] + list(bounds.values())
    x_ticks, y_ticks = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))
    x_low, x_high = min(*xs, x_ticks[0]), max(*xs, x_ticks[-1])
    y_low, y_high = min(*ys, y_ticks[0]), max(*ys, y_ticks[-1])

    def at(px: float, py: float) -> tuple[float, float]:
        across = (px - x_low) / ((x_high - x_low) or 1)
        up = (py - y_low) / ((y_high - y_low) or 1)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    out = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">']
    for tick in y_ticks:
        _, height = at(x_low, tick)
        out.append(
            f'<line class="grid-line" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    for tick in x_ticks:
        across, _ = at(tick, y_low)
        anchor = "end" if across > _WIDTH - 24 else "middle"
        out.append(
            f'<text x="{across:.1f}" y="{_HEIGHT - _BOTTOM + 15}" text-anchor="{anchor}">{short(tick)}</text>'
        )
    base = _HEIGHT - _BOTTOM
    out.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{base}" y2="{base}"/>')
    out.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 5}" text-anchor="middle">{escape(x)}</text>'
    )
    out.append(
        f'<text transform="translate(11 {(base + _TOP) / 2}) rotate(-90)" text-anchor="middle">{escape(y)}</text>'
    )
    for name, value in bounds.items():
        _, height = at(x_low, value)
        out.append(
            f'<line class="bound" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_WIDTH - _RIGHT - 2}" y="{height - 4:.1f}" text-anchor="end">{escape(name)}</text>'
        )
    for one in series:
        out.append(_line(one, at))
    return "".join([*out, "</svg>"])


def _line(one: Mapping[str, Any], at: Any) -> str:
    colour = f"k{one['index'] % 6}"
    banded = [point for point in one["points"] if len(point) > 2 and point[2] is not None]
    out = ""
    if len(banded) > 1:
        edge = [at(point[0], point[3]) for point in banded] + [
            at(point[0], point[2]) for point in banded[::-1]
        ]
        out += f'<polygon class="band {colour}" points="{_path(edge)}"/>'
    line = [at(*point[:2]) for point in one["points"] if point[1] is not None]
    dash = _DASHES[one["index"] % 6]
    out += f'<polyline class="series {colour}" stroke-dasharray="{dash}" points="{_path(line)}"/>'
    if len(line) <= 12:
        out += "".join(
            f'<circle class="mark {colour}" cx="{px:.1f}" cy="{py:.1f}" r="3"/>' for px, py in line
        )
    return out


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{px:.1f},{py:.1f}" for px, py in points)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from below ``low`` to above ``high``."""
    span = (high - low) or abs(high) or 1.0
    step = 10 ** math.floor(math.log10(span / about))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]


def short(value: float) -> str:
    """4.5M, 20k, 0.25."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:g}"


def heat(matrix: Sequence[Sequence[float]]) -> str:
    """A matrix (T, S) of numbers from 0 up as a picture, a pixel a number, light to dark; as a data URI.

    The scale is the square root, so that weak influence shows beside strong.
    """
    values = np.sqrt(np.array(matrix, dtype=float))
    share = (values / (values.max() or 1))[..., None]
    # Three colours of even lightness steps, as of matplotlib's "YlGnBu": nothing, middling, most.
    stops = np.array([[250, 249, 240], [65, 160, 190], [10, 30, 90]], dtype=float)
    lower = stops[0] + (stops[1] - stops[0]) * np.minimum(share * 2, 1)
    colours = np.where(share <= 0.5, lower, stops[1] + (stops[2] - stops[1]) * (share * 2 - 1))
    pixels = np.round(colours).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    height, width = values.shape
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(rows, 9)),
            (b"IEND", b""),
        )
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
