from __future__ import annotations

from interlock.graph.extraction.key_index import Entry, KeyIndex


def test_first_row_of_a_key_counts() -> None:
    index = KeyIndex()
    index.add("a", Entry("x", 7))
    index.add("a", Entry("y", 9))

    assert (index.find("a"), index.find("b")) == (Entry("x", 7), None)
    index.close()
