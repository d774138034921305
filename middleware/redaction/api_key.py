"""Keys, tokens and other credentials, by the marks that their providers give them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import folding_detector
from .match import Span

_MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}+"  # OpenAI, Anthropic, DeepSeek, OpenRouter and those like them
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+|whsec_[A-Za-z0-9+/=]{16,}+"  # Stripe
    r"|(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # Amazon
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+"
    r"|gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_.-]{16,}+"  # GitLab
    r"|xox[a-z](?:\.[a-z]{3})?-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+"  # Slack
    r"|AIza[A-Za-z0-9_-]{30,}+|ya29\.[A-Za-z0-9_-]{16,}+|GOCSPX-[A-Za-z0-9_-]{16,}+"  # Google
    r"|hf_[A-Za-z0-9]{16,}+|api_org_[A-Za-z0-9]{16,}+"  # Hugging Face
    r"|(?:gsk|r8|fw|tgp|nvapi|xai|pplx|tvly|csk|lsv2_pt|lsv2_sk|ls__)[_-][A-Za-z0-9_-]{16,}+"
    r"|npm_[A-Za-z0-9]{30,}+|pypi-[A-Za-z0-9_-]{30,}+|dckr_pat_[A-Za-z0-9_-]{16,}+"
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"  # SendGrid
    r"|(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"  # Twilio
    r"|do[opr]_v1_[a-f0-9]{32,}+|dapi[a-f0-9]{32}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,}+"
    r"|hv[sb]\.[A-Za-z0-9_-]{20,}+|dp\.[a-z]{2,5}\.[A-Za-z0-9]{20,}+"  # Vault, Doppler
    r"|PMAK-[A-Za-z0-9-]{20,}+|glsa_[A-Za-z0-9_]{20,}+|sntry[su]_[A-Za-z0-9+/=_-]{20,}+"
    r"|\d{8,10}:AA[A-Za-z0-9_-]{33}"  # Telegram
    r"|eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"  # JSON web token
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}+"
    r")"
)
_NAMED = re.compile(
    # What follows "<" is a token or hash of ours.
    r"(?<!<)(?:\b|_)(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?(?:access[_-]?)?key|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|account[_-]?key|private[_-]?key"
    r"|passwd|password|passphrase|secret|token|pwd)[\"']?[ ]?(?::|=|=>)[ ]?[\"']?"
    r"([^\s\"',;&<>]{8,}+)",
    re.IGNORECASE,
)
_HEADER = re.compile(r"\b(?:bearer|basic|token)[ ]{1,4}([A-Za-z0-9._~+/-]{16,}+=*+)", re.IGNORECASE)
_IN_URL = re.compile(r"://[^\s/:@]*+:([^\s/@]++)@")
"""No part of a text is read twice: what is read ends before the next ``://``."""
_PEM_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_ENDS = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")


def find_keys(text: str) -> Iterator[Span]:
    """Spans of the credentials in a folded text."""
    for found in _MARKED.finditer(text):
        yield found.span()
    for pattern in (_NAMED, _HEADER, _IN_URL):
        for found in pattern.finditer(text):
            yield found.span(1)
    yield from _private_keys(text)


def _private_keys(text: str) -> Iterator[Span]:
    """Private keys in PEM form; one whose end is missing goes up to the end of the text."""
    at = 0
    while begins := _PEM_BEGINS.search(text, at):
        ends = _PEM_ENDS.search(text, begins.end())
        at = ends.end() if ends is not None else len(text)
        yield begins.start(), at


detect_api_key = folding_detector("api_key", find_keys)
"""Matches of credentials."""
