from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.redaction.folding import fold, folding_detector


def test_invisible_characters_are_gone_and_lookalikes_are_plain() -> None:
    assert fold("k\u200bim\uff20\uff45\uff58")[0] == "kim@ex"
    assert fold("٤\u2009\u20131")[0] == "4 -1"


@given(st.text(st.sampled_from("ab1\u200b\u00ad\uff58…ﬁ٤\ufe0f é😀"), max_size=30))
def test_each_folded_character_knows_where_it_came_from(text: str) -> None:
    folded, positions = fold(text)
    origins = positions if positions is not None else range(len(text))

    assert len(folded) == len(origins)
    for character, origin in zip(folded, origins, strict=True):
        assert character in (fold(text[origin])[0] or character)


def test_match_covers_the_original_characters() -> None:
    detect = folding_detector("x", lambda text: [(text.index("mm"), text.index("mm") + 2)])

    assert detect("a\u200bm\u200bm\u200bz") == [
        {"type": "x", "value": "m\u200bm", "start": 2, "end": 5}
    ]
