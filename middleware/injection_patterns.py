"""Signs that a text speaks to the model instead of to its reader: patterns in linear time.

They are a net with wide meshes. An attack can be written around them, and a harmless text about
attacks shows them; so they mark and hold back, they do not prove.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .redaction.folding import fold

_GAP = r"[\s\W]{1,8}(?:\w{1,20}[\s\W]{1,8}){0,4}?"
"""A few words in between: bounded, so that the search stays linear."""

_SIGNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "overrides instructions": (
            rf"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow){_GAP}"
            r"(?:instructions?|prompts?|rules|guidelines|directions|context|polic(?:y|ies))\b"
        ),
        "overrides instructions in another language": (
            r"(?:忽略|无视|忘记)[^\n]{0,12}(?:指令|指示|提示|规则)"
            r"|(?:игнорируй|забудь)(?:те)?[^\n]{0,30}(?:инструкци|указани|правил)"
            r"|(?:ignoriere|vergiss)[^\n]{0,30}(?:anweisung|regel)"
            r"|(?:ignora|olvida|oublie|ignor(?:ez|er))[^\n]{0,30}(?:instrucci|instruction|consigne|regla)"
        ),
        "gives new instructions": (
            rf"\b(?:new|updated|real|actual|important|urgent){_GAP}(?:instructions?|task|directive)\b"
            r"[^\n]{0,40}[:\n]"
        ),
        "changes the role": (
            r"\byou are (?:now|no longer)\b|\bact as (?:if you|an? (?:unrestricted|different))"
            r"|\bpretend (?:to be|you are|that you)|\b(?:developer|god|dan|jailbreak) mode\b"
        ),
        "imitates a role mark": (
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)[^>]{0,20}\|?>"
            r"|\[/?INST\]|<</?SYS>>|</?(?:system|assistant)(?:[ _-](?:prompt|message|reminder))?>"
            r"|(?:^|\n)\s{0,8}#{1,6}\s{0,4}(?:system|assistant|developer)\b"
            r"|(?:^|\n)\s{0,8}(?:system|assistant|developer)\s{0,4}:\s{0,4}(?:\n|you\b)"
        ),
        "asks for the prompt": (
            rf"\b(?:reveal|print|show|repeat|output|leak|tell me){_GAP}"
            r"(?:system prompt|initial prompt|hidden prompt|instructions above)\b"
        ),
        "hides from the user": (
            r"\b(?:do not|don't|never|without)[\s\W]{1,4}"
            r"(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting)"
            r"[\s\W]{1,4}(?:it |this |anything )?(?:to )?(?:the )?(?:user|human|anyone|owner)\b"
        ),
        "calls for a tool": (
            rf"\b(?:call|invoke|use|run|execute){_GAP}(?:tool|function|command|shell)\b"
            r"[^\n]{0,60}(?:\(|\bwith\b|:)"
        ),
        "sends data away": (
            rf"\b(?:send|post|forward|upload|exfiltrate|email|e-mail|transmit){_GAP}"
            r"(?:password|passwords|secrets?|api keys?|credentials?|tokens?|conversation|history|data|files?)\b"
            r"[^\n]{0,80}(?:https?://|@|\bto\b)"
        ),
        "sends data away in a picture": r"!\[[^\]\n]{0,80}\]\(\s{0,4}https?://[^\s)]{1,400}[?&][^\s)=]{1,60}=",
    }.items()
}

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "overrides instructions": (
        "ignore",
        "disregard",
        "forget",
        "override",
        "bypass",
        "not follow",
        "n't follow",
    ),
    "overrides instructions in another language": ("ignor", "vergiss", "olvida", "oublie"),
    "gives new instructions": ("instruction", "task", "directive"),
    "changes the role": ("you are", "act as", "pretend", " mode"),
    "imitates a role mark": ("<|", "inst]", "sys>>", "system", "assistant", "developer"),
    "asks for the prompt": (
        "system prompt",
        "initial prompt",
        "hidden prompt",
        "instructions above",
    ),
    "hides from the user": ("user", "human", "anyone", "owner"),
    "calls for a tool": ("tool", "function", "command", "shell"),
    "sends data away": (
        "password",
        "secret",
        "api key",
        "credential",
        "token",
        "conversation",
        "history",
        "data",
        "file",
    ),
    "sends data away in a picture": ("](",),
}
"""Per sign, texts of which a text in ASCII must hold one, in small letters, to show it: looking for
them is much quicker than searching."""

_HIDDEN = frozenset({0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF})
_TAGS = range(0xE0000, 0xE0080)
_BIDI = frozenset([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_MANY_HIDDEN = 10


def injection_signs(text: str) -> list[str]:
    """Names of the signs that a text shows, in a fixed order; none for an ordinary text."""
    if text.isascii():
        return [name for name in _possible_signs(text) if _SIGNS[name].search(text)]
    folded, _ = fold(text)
    found = [name for name, pattern in _SIGNS.items() if pattern.search(folded)]
    return found + _unseen_signs(text)


def _possible_signs(text: str) -> list[str]:
    """The signs that a text in ASCII may show, in the same order."""
    small = text.lower()
    possible: list[str] = []
    for name, needed in _NEEDED.items():
        for part in needed:
            if part in small:
                possible.append(name)
                break
    return possible


def _unseen_signs(text: str) -> list[str]:
    found: list[str] = []
    if any(ord(c) in _TAGS for c in text):
        found.append("holds invisible text")
        # Text in tag characters is for the model alone: read it too.
        plain = "".join(chr(ord(c) - 0xE0000) for c in text if ord(c) in _TAGS)
        found += [s for s in injection_signs(plain.replace("\x00", "")) if s not in found]
    elif sum(ord(c) in _HIDDEN for c in text) >= _MANY_HIDDEN:
        found.append("holds invisible text")
    if any(ord(c) in _BIDI for c in text):
        found.append("changes the writing direction")
    return found


def visible(text: str) -> str:
    """The text without characters that no reader sees."""
    if text.isascii():
        return text
    return "".join(c for c in text if unicodedata.category(c) != "Cf" or c in "\u200c\u200d")
