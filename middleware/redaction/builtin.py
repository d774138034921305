"""The detectors that come with the library, by the kind of data they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...state.errors import ConfigurationError
from ...state.guardrail_errors import DetectorError, PIIDetectionError
from .api_key import detect_api_key
from .card import detect_credit_card
from .email import detect_email
from .iban import detect_iban
from .match import Detector, PIIMatch, checked_matches
from .network import detect_ip, detect_mac_address
from .pattern import pattern_detector
from .phone import detect_phone
from .url import detect_url

BUILTIN_DETECTORS: Mapping[str, Detector] = {
    "api_key": detect_api_key,
    "credit_card": detect_credit_card,
    "email": detect_email,
    "iban": detect_iban,
    "ip": detect_ip,
    "mac_address": detect_mac_address,
    "phone": detect_phone,
    "url": detect_url,
}
"""Each finds its kind of data in time proportional to the length of the text."""


def resolve_detector(
    pii_type: str, detector: Callable[[str], Any] | str | None, max_chars: int
) -> Detector:
    """The detector for a kind of data: a given one, a pattern, or a built-in one.

    Args:
        pii_type: The kind of data.
        detector: A function of the text, a regular expression, or None for a built-in one.
        max_chars: Longest text that a given pattern or function is asked to search.

    Raises:
        ConfigurationError: There is no built-in detector of this name, or the regular expression
            is not valid or can take too long.
    """
    if detector is None:
        known = BUILTIN_DETECTORS.get(pii_type)
        if known is None:
            msg = (
                f"Unknown PII type {pii_type!r}; built in are {', '.join(BUILTIN_DETECTORS)}. "
                "Give a detector for any other."
            )
            raise ConfigurationError(msg)
        return known
    if isinstance(detector, str):
        return bounded(pii_type, pattern_detector(pii_type, detector), max_chars)
    if not callable(detector):
        msg = f"detector is {detector!r}; give a function of the text or a regular expression."
        raise ConfigurationError(msg)
    return bounded(pii_type, detector, max_chars)


def bounded(pii_type: str, detect: Callable[[str], Any], max_chars: int) -> Detector:
    """A user's detector that fails closed: its answer is checked, and so is what it is asked."""

    def detector(text: str) -> list[PIIMatch]:
        if len(text) > max_chars:
            msg = (
                f"A text of {len(text)} characters is too long for the detector of {pii_type!r}, "
                f"which searches at most {max_chars}; raise max_chars, or shorten the text."
            )
            raise DetectorError(msg)
        try:
            found = detect(text)
        except (DetectorError, PIIDetectionError):
            raise
        except Exception as error:
            msg = (
                f"The detector of {pii_type!r} failed with {type(error).__name__}, so the text "
                "may not pass; mend the detector."
            )
            raise DetectorError(msg) from error
        return checked_matches(pii_type, text, found)

    return detector
