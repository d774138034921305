"""The format of a stored agent: a version, and its settings one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.messages import SystemMessage

from ...state.errors import ConfigurationError
from ...state.suggestion import did_you_mean
from ...state.type_notation import read_type, write_type
from .codec import Codec, check_depth
from .model_data import check_name, read_model
from .registry import Registry

FORMAT = 1
"""Version of the format; a text of another version is refused."""

_VERSION, _AGENT = "interlock", "agent"


def write_document(settings: Mapping[str, Any], registry: Registry | None = None) -> dict[str, Any]:
    """The settings of an agent as plain data.

    Args:
        settings: Those that were given, by name.
        registry: Names for everything in them that is no data.

    Raises:
        ConfigurationError: A setting holds something that has no name; the message says which,
            and what to register.
    """
    codec = Codec(registry or Registry())
    written = {name: _write(codec, name, value) for name, value in settings.items()}
    return {_VERSION: FORMAT, _AGENT: written}


def read_document(
    data: Any, names: tuple[str, ...], registry: Registry | None = None
) -> dict[str, Any]:
    """The settings in plain data.

    Args:
        data: What :func:`write_document` wrote, as it came from JSON or YAML.
        names: Settings that an agent has.
        registry: Everything that the data may name.

    Raises:
        ConfigurationError: The data is of another version or form, or names something unknown.
    """
    if not isinstance(data, Mapping) or set(cast("Any", data)) != {_VERSION, _AGENT}:
        msg = f"A stored agent is a dict {{{_VERSION!r}: {FORMAT}, {_AGENT!r}: {{...}}}}."
        raise ConfigurationError(msg)
    document = cast("Mapping[str, Any]", data)
    version: Any = document[_VERSION]
    if type(version) is not int or version != FORMAT:
        msg = f"The agent is stored in format {version!r}; this version reads {FORMAT}."
        raise ConfigurationError(msg)
    given = document[_AGENT]
    if not isinstance(given, Mapping):
        msg = f"{_AGENT} is {type(given).__name__!r}; it is a dict of settings."
        raise ConfigurationError(msg)
    codec = Codec(registry or Registry())
    settings: dict[str, Any] = {}
    for name, value in cast("Mapping[Any, Any]", given).items():
        if name not in names:
            hint = did_you_mean(str(name), names)
            msg = f"A stored agent has no setting {name!r}.{hint}"
            raise ConfigurationError(msg)
        settings[name] = _read(codec, name, value)
    if "model" not in settings:
        msg = "The stored agent has no model; give one, such as 'model: openai:gpt-5-mini'."
        raise ConfigurationError(msg)
    return settings


def _write(codec: Codec, name: str, value: Any) -> Any:
    if value is None:
        return None
    special = _FORMS.get(name)
    return codec.write(value, name) if special is None else special[0](codec, name, value)


def _read(codec: Codec, name: str, data: Any) -> Any:
    if data is None:
        return None
    special = _FORMS.get(name)
    return codec.read(data, name) if special is None else special[1](codec, name, data)


def _write_model(codec: Codec, name: str, value: Any) -> Any:
    if isinstance(value, str):
        check_name(value, codec.registry, name)
        return value
    return codec.write(value, name)


def _read_model(codec: Codec, name: str, data: Any) -> Any:
    if isinstance(data, str):
        check_name(data, codec.registry, name)
    if isinstance(data, Mapping) and "model" in data:
        return read_model(cast("Mapping[Any, Any]", data), codec.registry, name)
    return codec.read(data, name)


def _write_list(codec: Codec, name: str, value: Any) -> Any:
    """Tools, middleware and hooks: names of what is registered, and the provider's own tools."""
    if not isinstance(value, (list, tuple)):
        return codec.write(value, name)
    items = enumerate(cast("list[Any]", value))
    return [
        _plain(v, f"{name}[{n}]") if type(v) is dict else codec.write_named(v, f"{name}[{n}]")
        for n, v in items
    ]


def _read_list(codec: Codec, name: str, data: Any) -> Any:
    if type(data) is not list:
        return codec.read(data, name)
    items = enumerate(cast("list[Any]", data))
    return [
        _plain(v, f"{name}[{n}]")
        if name == "tools" and type(v) is dict and "registered" not in v and "class" not in v
        else codec.read_named(v, f"{name}[{n}]")
        for n, v in items
    ]


def _write_hooks(codec: Codec, name: str, value: Any) -> Any:
    return {k: _write_list(codec, f"{name}.{k}", v) for k, v in dict(value).items()}


def _read_hooks(codec: Codec, name: str, data: Any) -> Any:
    return {k: _read_list(codec, f"{name}.{k}", v) for k, v in _dict_of(name, data).items()}


def _write_schema(codec: Codec, name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return codec.write_named(value, name)
    schema = cast("Mapping[str, Mapping[str, Any]]", value)
    return {key: _write_key(codec, f"{name}.{key}", dict(entry)) for key, entry in schema.items()}


def _write_key(codec: Codec, where: str, entry: dict[str, Any]) -> dict[str, Any]:
    types = codec.registry.types
    text = write_type(entry["type"], types)
    if read_type(text, types) != entry["type"]:
        msg = f"{where} has the type {text}, which is not registered; register the class."
        raise ConfigurationError(msg)
    handler = entry.get("handler")
    written = {"type": text}
    return written if handler is None else {**written, "handler": codec.write(handler, where)}


def _read_schema(codec: Codec, name: str, data: Any) -> Any:
    if isinstance(data, str):
        return codec.registry.get(data, name)
    return {
        key: _read_key(codec, f"{name}.{key}", _dict_of(f"{name}.{key}", entry))
        for key, entry in _dict_of(name, data).items()
    }


def _read_key(codec: Codec, where: str, entry: Mapping[Any, Any]) -> dict[str, Any]:
    read = dict(entry)
    if "type" in read:
        read["type"] = read_type(read["type"], codec.registry.types)
    if read.get("handler") is not None:
        handler: Any = read["handler"]
        named = {"registered": handler} if isinstance(handler, str) else handler
        read["handler"] = codec.read(named, where)
    return read


def _write_format(codec: Codec, name: str, value: Any) -> Any:
    return _plain(value, name) if type(value) is dict else codec.write(value, name)


def _read_format(codec: Codec, name: str, data: Any) -> Any:
    if isinstance(data, str):
        return codec.registry.get(data, name)
    if type(data) is dict and not {"registered", "class"} & cast("Any", data).keys():
        return _plain(data, name)
    return codec.read(data, name)


def _write_prompt(codec: Codec, name: str, value: Any) -> Any:
    if not isinstance(value, SystemMessage):
        return codec.write(value, name)
    fields = {"name": value.name, "additional_kwargs": value.additional_kwargs or None}
    given = {k: _plain(v, name) for k, v in fields.items() if v is not None}
    return {"content": _plain(value.content, name), **given}


def _read_prompt(_codec: Codec, name: str, data: Any) -> Any:
    if isinstance(data, str):
        return data
    given = _plain(dict(_dict_of(name, data)), name)
    if not {"content"} <= given.keys() <= {"content", "name", "additional_kwargs"}:
        msg = f"{name} is a text, or a dict with 'content', 'name' and 'additional_kwargs'."
        raise ConfigurationError(msg)
    try:
        return SystemMessage(**given)
    except ValueError as error:
        msg = f"{name} is no message: {error}"
        raise ConfigurationError(msg) from error


def _read_name(codec: Codec, name: str, data: Any) -> Any:
    """An object of the program; a checkpointer may also be there or not, in words."""
    if name == "checkpointer" and isinstance(data, bool):
        return data
    if isinstance(data, str) or (isinstance(data, Mapping) and "registered" in cast("Any", data)):
        return codec.read_named(data, name)
    kind = type(cast("object", data)).__name__
    msg = f"{name} is {kind!r}; give the name of what was registered."
    raise ConfigurationError(msg)


def _write_name(codec: Codec, name: str, value: Any) -> Any:
    return codec.write_named(value, name)


def _plain(value: Any, where: str, depth: int = 0) -> Any:
    """Data that stands for itself, whatever its keys are.

    Raises:
        ConfigurationError: Something in it is no data.
    """
    check_depth(depth, where)
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_plain(v, where, depth + 1) for v in cast("list[Any]", value)]
    if type(value) is dict and all(type(k) is str for k in cast("dict[Any, Any]", value)):
        items = cast("dict[str, Any]", value).items()
        return {k: _plain(v, where, depth + 1) for k, v in items}
    msg = f"{where} holds {value!r}; it may hold texts, numbers, lists, and dicts with text keys."
    raise ConfigurationError(msg)


def _dict_of(where: str, data: Any) -> Mapping[Any, Any]:
    if not isinstance(data, Mapping):
        msg = f"{where} is {type(data).__name__!r}; it is a dict."
        raise ConfigurationError(msg)
    return cast("Mapping[Any, Any]", data)


Form = tuple[Callable[[Codec, str, Any], Any], Callable[[Codec, str, Any], Any]]
_NAMED: Form = (_write_name, _read_name)
_LIST: Form = (_write_list, _read_list)
_FORMS: dict[str, Form] = {
    "model": (_write_model, _read_model),
    "tools": _LIST,
    "middleware": _LIST,
    "transformers": _LIST,
    "hooks": (_write_hooks, _read_hooks),
    "state_schema": (_write_schema, _read_schema),
    "context_schema": _NAMED,
    "checkpointer": _NAMED,
    "store": _NAMED,
    "cache": _NAMED,
    "streaming_callback": _NAMED,
    "response_format": (_write_format, _read_format),
    "system_prompt": (_write_prompt, _read_prompt),
}
"""Settings that are not written as any value is."""
