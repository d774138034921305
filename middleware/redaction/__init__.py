"""Finding sensitive data in texts, messages and streams, and what becomes of it.

Open ``redactor.py`` first: it applies rules. One file per kind of data (``email.py``, ``card.py``
and so on) finds it, ``strategy.py`` replaces it, ``surfaces.py`` knows where in a message text can
be, ``guarded_model.py`` keeps it out of a model's own reports.
"""

from __future__ import annotations

from .api_key import detect_api_key
from .builtin import BUILTIN_DETECTORS
from .card import detect_credit_card
from .email import detect_email
from .guarded_model import GuardedChatModel, ReplyGuard
from .iban import detect_iban
from .match import Detector, PIIMatch
from .network import detect_ip, detect_mac_address
from .pattern import pattern_detector
from .phone import detect_phone
from .presidio import presidio_detector
from .redactor import Redactor
from .rule import RedactionRule, ResolvedRedactionRule
from .strategy import RedactionStrategy, apply_strategy
from .transformer import PIIStreamTransformer
from .url import detect_url

__all__ = [
    "BUILTIN_DETECTORS",
    "Detector",
    "GuardedChatModel",
    "PIIMatch",
    "PIIStreamTransformer",
    "RedactionRule",
    "RedactionStrategy",
    "Redactor",
    "ReplyGuard",
    "ResolvedRedactionRule",
    "apply_strategy",
    "detect_api_key",
    "detect_credit_card",
    "detect_email",
    "detect_iban",
    "detect_ip",
    "detect_mac_address",
    "detect_phone",
    "detect_url",
    "pattern_detector",
    "presidio_detector",
]
