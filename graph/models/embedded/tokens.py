"""How much the engine has to read."""

from __future__ import annotations

import re


def token_estimate(text: str) -> int:
    """Return about how many tokens a text has for the engine.

    Args:
        text: What is measured. Words of English count one token per six letters, digits and
            signs one each, other letters three (measured: the engine spells them in bytes).
    """
    sizes = (
        (len(part) + 5) // 6 if part.isascii() else 3
        for part in re.findall(r"[A-Za-z]+|[^\sA-Za-z]", text)
    )
    return sum(sizes)
