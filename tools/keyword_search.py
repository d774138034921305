"""Ranking short texts by the words of a query: a pure function."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75


def words_of(text: str) -> list[str]:
    """The words of a text in lower case: names are split, and a plural counts as its singular.

    >>> words_of("getInvoices for customer_ids")
    ['get', 'invoice', 'for', 'customer', 'id']
    """
    return [_singular(w) for w in _WORD.findall(_HUMP.sub(" ", text).lower())]


def rank(query: str, texts: Sequence[str], limit: int) -> list[int]:
    """The positions of the texts that fit a query best, the best one first.

    Args:
        query: Words, in any order.
        texts: What is searched.
        limit: The most positions to give.

    Returns:
        Only texts that share a word with the query; of equal ones the earlier one first.

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
    """
    counts = [Counter(words_of(text)) for text in texts]
    lengths = [count.total() for count in counts]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    wanted = dict.fromkeys(words_of(query))
    spread = {word: sum(word in count for count in counts) for word in wanted}

    def score(position: int) -> float:
        count = counts[position]
        long = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[position] / average
        return sum(
            _rarity(spread[word], len(texts))
            * count[word]
            * (_SATURATION + 1)
            / (count[word] + _SATURATION * long)
            for word in wanted
            if count[word]
        )

    scores = [score(position) for position in range(len(texts))]
    found = [position for position, value in enumerate(scores) if value > 0]
    return sorted(found, key=lambda position: -scores[position])[:limit]


def _rarity(holders: int, total: int) -> float:
    """How much a word tells: always above 0, also for one that is in every text."""
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))


def _singular(word: str) -> str:
    plural = len(word) > 2 and word.endswith("s")  # noqa: PLR2004 - "is" and "as" are no plurals
    return word[:-1] if plural and not word.endswith(("ss", "us", "is")) else word
