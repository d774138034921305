"""Values as plain data, and back.

Numbers, texts, lists and dicts stand for themselves. What else there is, is a dict with one of a
few keys: ``{"registered": name}``, ``{"class": name, **arguments}``, ``{"model": name, ...}``,
``{"tuple": [...]}``, ``{"set": [...]}``, and ``{"dict": [[key, value], ...]}`` for a dict whose own
keys would be taken for one of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from ...state.errors import ConfigurationError
from ..models.model_spec import ModelSpec
from .construction import SECRET_ARGUMENTS, arguments_of, make
from .model_data import check_names, read_model, write_model
from .registry import Registry
from .shipped import SHIPPED_HANDLERS, shipped_classes

MAX_DEPTH = 40
"""Levels of data inside data that are read."""

_REACHING = re.compile(r"\{\w*[.\[!]|\{\w*:[^{}]*(?:\{|\d{4})")
"""A placeholder with an attribute, an index, a conversion, or a long or computed width."""

_TAGS = frozenset({"registered", "class", "model", "tuple", "set", "frozenset", "dict"})
_GROUPS: dict[str, type[Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


class Codec:
    """Writes and reads values with the names of a registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def write(self, value: Any, where: str, depth: int = 0) -> Any:
        """A value as plain data.

        Raises:
            ConfigurationError: It is something that only a registered name can stand for.
        """
        check_depth(depth, where)
        if value is None or type(value) in (bool, int, float, str):
            return value
        if (name := self._name_of(value)) is not None:
            return {"registered": name}
        if type(value) is list:
            return self._write_all(value, where, depth)
        if type(value) in _GROUPS.values():
            group: str = type(cast("object", value)).__name__
            items = self._write_all(value, where, depth)
            return {group: items if group == "tuple" else sorted(items, key=repr)}
        if type(value) is dict:
            return self._write_dict(cast("dict[Any, Any]", value), where, depth)
        if isinstance(value, ModelSpec):
            return write_model(value, self.registry, where)
        return self._write_object(value, where, depth)

    def read(self, data: Any, where: str, depth: int = 0) -> Any:
        """The value that :meth:`write` wrote.

        Raises:
            ConfigurationError: It names something unknown, or is not of this form.
        """
        check_depth(depth, where)
        if data is None or type(data) in (bool, int, float, str):
            return data
        if type(data) is list:
            items = enumerate(cast("list[Any]", data))
            return [self.read(item, f"{where}[{n}]", depth + 1) for n, item in items]
        if type(data) is not dict:
            msg = f"{where} holds {type(data).__name__!r}, which is no plain data."
            raise ConfigurationError(msg)
        known = cast("dict[Any, Any]", data)
        tags = _TAGS & known.keys()
        if not tags:
            return {
                _text(key, where): self.read(item, f"{where}.{key}", depth + 1)
                for key, item in known.items()
            }
        return self._read_tagged(min(tags), known, where, depth)

    def read_named(self, data: Any, where: str) -> Any:
        """A value where a text is the name of a registered one."""
        return self.registry.get(data, where) if isinstance(data, str) else self.read(data, where)

    def write_named(self, value: Any, where: str) -> Any:
        """The short form of a registered value: its name."""
        name = self.registry.name_of(value)
        return self.write(value, where) if name is None else name

    def _name_of(self, value: Any) -> str | None:
        known = next((n for n, v in SHIPPED_HANDLERS.items() if v is value), None)
        return self.registry.name_of(value) or known

    def _write_all(self, values: Any, where: str, depth: int) -> list[Any]:
        items = enumerate(cast("list[Any]", values))
        return [self.write(item, f"{where}[{n}]", depth + 1) for n, item in items]

    def _write_dict(self, value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        pairs = [
            (key, self.write(item, f"{where}[{key!r}]", depth + 1)) for key, item in value.items()
        ]
        if all(type(k) is str for k in value) and not _TAGS & value.keys():
            return dict(pairs)
        return {"dict": [[self.write(k, where, depth + 1), item] for k, item in pairs]}

    def _write_object(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        kind: type[Any] = type(cast("object", value))
        if (spec := ModelSpec.of(value)) is not None:
            return write_model(spec, self.registry, where)
        if shipped_classes().get(kind.__name__) is not kind and not self.registry.name_of(kind):
            msg = (
                f"{where} is {value!r}, which is no data; register it, or its class "
                f"{kind.__name__}, and give the registry to to_dict and from_dict."
            )
            raise ConfigurationError(msg)
        name = self.registry.name_of(kind) or kind.__name__
        arguments = arguments_of(value, where)
        check_names(kind, arguments, self.registry, where)
        for secret in SECRET_ARGUMENTS & arguments.keys():
            if arguments[secret] is not None:
                msg = (
                    f"{where}: {kind.__name__} has a {secret}, which is never written; register "
                    "this object under a name."
                )
                raise ConfigurationError(msg)
        items = arguments.items()
        return {
            "class": name,
            **{k: self.write(v, f"{where}.{k}", depth + 1) for k, v in items},
        }

    def _read_tagged(self, tag: str, data: dict[Any, Any], where: str, depth: int) -> Any:
        if tag == "model":
            return read_model(data, self.registry, where).build()
        if tag == "class":
            return self._read_object(data, where, depth)
        if len(data) > 1:
            others = ", ".join(repr(k) for k in data if k != tag)
            msg = f"{where} has {tag!r} and also {others}; give one of them."
            raise ConfigurationError(msg)
        if tag == "registered":
            name = data[tag]
            if isinstance(name, str) and self.registry.class_named(name) is None:
                known = SHIPPED_HANDLERS.get(name)
                return known if known is not None else self.registry.get(name, where)
            return self.registry.get(name, where)
        items = self.read(data[tag], where, depth + 1)
        if not isinstance(items, list):
            msg = f"{where}: {tag!r} takes a list, not {items!r}."
            raise ConfigurationError(msg)
        return _group(tag, cast("list[Any]", items), where)

    def _read_object(self, data: dict[Any, Any], where: str, depth: int) -> Any:
        name = data["class"]
        kind = None
        if isinstance(name, str):
            kind = self.registry.class_named(name) or shipped_classes().get(name)
        if kind is None:
            known = ", ".join(sorted({*shipped_classes(), *self.registry.types}))
            msg = (
                f"{where} names the class {name!r}, which is not registered and none that any file "
                f"may name; those are {known}."
            )
            raise ConfigurationError(msg)
        check_texts(data, where)
        arguments = {
            _text(key, where): self.read(item, f"{where}.{key}", depth + 1)
            for key, item in data.items()
            if key != "class"
        }
        check_names(kind, arguments, self.registry, where)
        return make(kind, arguments, where)


def check_texts(data: Mapping[Any, Any], where: str) -> None:
    """Refuse texts that ``str.format`` would follow into objects, or make endlessly long.

    Raises:
        ConfigurationError: An argument is such a text.
    """
    for key, text in data.items():
        if isinstance(text, str) and (found := _REACHING.search(text)):
            msg = (
                f"{where}.{key} has the placeholder {found[0][:40]!r}; a stored text may have plain "
                "ones only, such as {tool_name}."
            )
            raise ConfigurationError(msg)


def check_depth(depth: int, where: str) -> None:
    """Refuse data that is nested too deeply, or contains itself.

    Raises:
        ConfigurationError: It is.
    """
    if depth > MAX_DEPTH:
        msg = f"{where} is nested more than {MAX_DEPTH} levels deep."
        raise ConfigurationError(msg)


def _text(key: Any, where: str) -> str:
    if type(key) is not str:
        msg = f"{where} has the key {key!r}; keys are texts, so put it in quotes."
        raise ConfigurationError(msg)
    return key


def _group(tag: str, items: list[Any], where: str) -> Any:
    make_group = cast("Callable[[Any], Any]", dict if tag == "dict" else _GROUPS[tag])
    try:
        return make_group(items)
    except (TypeError, ValueError) as error:
        msg = f"{where}: no {tag} can be made of it: {error}."
        raise ConfigurationError(msg) from error
