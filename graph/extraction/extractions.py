"""Extraction in bulk, for programs: a schema, many texts, and an iterator of results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, Unpack, cast, overload

from langchain_core.language_models import BaseChatModel

from ...state.errors import InvalidInputTypeError
from ...tools.calls import AWAITING, BLOCKING, run_inline
from ..structured_output import SchemaSpec
from .bulk_model import chat_model_of, closer, extractor_for, identity
from .job import ExtractionJob
from .record import Row
from .result import Extraction
from .settings import ExtractSettings, checked_settings
from .totals import Totals

T = TypeVar("T")


class Extractions(Iterator[Extraction[T]], Generic[T]):
    """The results of a job, one after the other; closed when the last one is given.

    ``with`` closes a job that is not read to its end.
    """

    def __init__(self, job: ExtractionJob) -> None:
        self._job = job
        self._results = job.run(BLOCKING)

    @property
    def totals(self) -> Totals:
        """Counts and tokens so far."""
        return self._job.totals

    @property
    def specs(self) -> tuple[SchemaSpec[Any], ...]:
        """The schemas of the values, as the model is shown them."""
        return self._job.extractor.output.specs

    def close(self) -> None:
        """Begin nothing more, wait for what runs, and let the files go."""
        run_inline(self._results.aclose(), "the extraction")

    def __next__(self) -> Extraction[T]:
        try:
            return run_inline(self._results.asend(None), "the extraction")
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncExtractions(AsyncIterator[Extraction[T]], Generic[T]):
    """The results of a job in an event loop.

    ``async with`` closes a job that is not read to its end.
    """

    def __init__(self, job: ExtractionJob) -> None:
        self._job = job
        self._results = job.run(AWAITING)

    @property
    def totals(self) -> Totals:
        """Counts and tokens so far."""
        return self._job.totals

    @property
    def specs(self) -> tuple[SchemaSpec[Any], ...]:
        """The schemas of the values, as the model is shown them."""
        return self._job.extractor.output.specs

    async def aclose(self) -> None:
        """Cancel what runs, and let the files go."""
        await self._results.aclose()

    async def __anext__(self) -> Extraction[T]:
        return await anext(self._results)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@overload
def extract(
    model: str | BaseChatModel,
    schema: type[T],
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> Extractions[T]: ...
@overload
def extract(
    model: str | BaseChatModel,
    schema: Any,
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> Extractions[Any]: ...
def extract(
    model: str | BaseChatModel,
    schema: Any,
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> Extractions[Any]:
    """Extract an object of a schema from each of many texts.

    A record from which nothing could be extracted is a result too, with ``error`` and
    ``attempts``, or goes to ``rejects``. Memory does not grow with the number of records.

    >>> from langchain_core.messages import AIMessage
    >>> from interlock.graph import extract
    >>> from interlock.graph.models import ScriptedChatModel
    >>> call = {"name": "int", "args": {"value": 42}, "id": "1"}
    >>> model = ScriptedChatModel([AIMessage("", tool_calls=[call])])
    >>> [result.value for result in extract(model, int, ["It is forty-two."])]
    [42]

    Args:
        model: A chat model, or ``"provider:name"``.
        schema: What ``create_agent`` takes as ``response_format``: a pydantic model, a dataclass,
            a TypedDict, a JSON schema, any other type, a union of them, or a strategy.
        inputs: Texts, or mappings whose columns the model is given as JSON. They are read as
            they are needed.
        **settings: See :class:`~interlock.graph.extraction.settings.ExtractSettings`.

    Returns:
        The results, in the order of the input or as they come. Each of its steps works on up to
        ``concurrency`` records; between them nothing new begins.

    Raises:
        ConfigurationError: A setting, the schema or the model cannot be used.
        TypeError: A name is no setting, or ``model`` is no chat model.
        StorageError: While it is read: a file cannot be used.
        InvalidInputError: While it is read: a row is no record, or the input is not the one that
            the job was begun with.
        Exception: While it is read: one that every record would meet, such as a wrong key, or
            that ``inputs`` raised. What was running is finished and kept first.
    """
    return Extractions(_job(model, schema, inputs, settings))


@overload
def aextract(
    model: str | BaseChatModel,
    schema: type[T],
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> AsyncExtractions[T]: ...
@overload
def aextract(
    model: str | BaseChatModel,
    schema: Any,
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> AsyncExtractions[Any]: ...
def aextract(
    model: str | BaseChatModel,
    schema: Any,
    inputs: Iterable[Row],
    **settings: Unpack[ExtractSettings],
) -> AsyncExtractions[Any]:
    """:func:`extract` for an event loop: use ``async for``."""
    return AsyncExtractions(_job(model, schema, inputs, settings))


def _job(
    model: str | BaseChatModel, schema: Any, inputs: Iterable[Row], given: Mapping[str, Any]
) -> ExtractionJob:
    settings = checked_settings(given)
    # A text is an iterable too, of letters, and a mapping one of its keys.
    kind = type(cast("object", inputs))
    if issubclass(kind, str | bytes | Mapping) or not issubclass(kind, Iterable):
        msg = f"inputs is a {kind.__name__!r}; give an iterable of texts or of mappings."
        raise InvalidInputTypeError(msg)
    chat_model = chat_model_of(model)
    extractor = extractor_for(chat_model, schema, settings)
    depends_on = {
        "schema": [[spec.name, spec.json_schema] for spec in extractor.output.specs],
        "model": identity(chat_model),
        "instructions": settings["instructions"],
    }
    close = closer(chat_model) if isinstance(model, str) else None
    return ExtractionJob(extractor, inputs, settings, depends_on, close)
