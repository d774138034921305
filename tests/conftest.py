"""How the tests run."""

from __future__ import annotations

from hypothesis import settings

# The same examples everywhere, as in the profile `ci`, but few: for `make test`.
settings.register_profile("quick", settings.get_profile("ci"), max_examples=15)
