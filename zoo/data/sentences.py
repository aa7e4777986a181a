"""Where sentences and lines start in a text, by character."""

from __future__ import annotations

import re

# A piece ends behind . ! ? … and closing quotes where white space and no small letter follow, before a line
# break, and behind the full stops of Chinese and Japanese. The white space goes with the next piece: that is
# where byte-level pre-tokenizers cut, so no token lies across a start.
_END = re.compile(
    r"""(?<=[.!?…])["'”’»)\]]*(?=\s+[^\sa-z])"""
    r"""|(?<=\S)(?=[^\S\n]*\n\s*\S)"""
    r"""|(?<=[。！？])[”」』）]*(?=\S)"""
)


def starts(text: str) -> list[int]:
    """Where sentences and lines of `text` start, ascending, the first being 0; [] for no text."""
    if not text:
        return []
    return sorted({0, *(match.end() for match in _END.finditer(text))})
