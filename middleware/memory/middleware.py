"""Memories at the two ends of a run: searched for when it begins, written when it ends."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Annotated, Any, NotRequired, Self, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, PutOp
from langgraph.types import Command

from ...state.errors import ConfigurationError
from ...state.schema import AgentState, PrivateStateAttr
from ...tools.calls import Dual
from ..base import AgentMiddleware
from ..cut_points import is_real_user
from ..flows import Ask, Flow, adrive, drive
from ..request import ExtendedModelResponse, ModelCallResult, ModelRequest, ModelResponse
from .criteria import SearchCriteria, read_criteria
from .notes import as_notes, with_notes
from .records import beginning, new_messages, spoken, writes_of_memories, writes_of_messages
from .scope import ROOT, MemoryScope, memory_namespace, scope_of
from .search import CANDIDATES, best
from .settings import settings_of

logger = logging.getLogger(__name__)

Extract = Callable[[list[BaseMessage]], Any] | Runnable[Any, Any]
"""Makes texts or ``Memory`` objects of the new messages of a run."""

_ROLES = ("user", "assistant")


class MemoryState(AgentState[Any]):
    """What a run keeps of its memories."""

    memory_notes: NotRequired[
        Annotated[dict[str, str], UntrackedValue(dict, guard=False), PrivateStateAttr]
    ]
    """What was found, by name of the middleware. Never stored with the thread."""
    memory_beginning: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """Where the run begins in the conversation."""


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives the model memories of earlier conversations and keeps what is said in this one.

    When a run begins, the agent's store is searched, and what is found joins the system prompt
    of its model calls as notes, marked as data; neither the thread nor the conversation holds
    them. When it ends, its new messages are written, each once, also where a run is repeated.

    Each run needs at least one of ``user_id``, ``agent_id`` and ``run_id``, from the settings
    here or from its context; with several, a memory must bear all. Filters only narrow that.

    It does not protect from what a memory says: what a user or a tool made the model repeat comes
    back in that user's later runs. Nothing expires by itself: set a time to live on the store, or
    erase the items of ``memory_namespace``.
    """

    state_schema = MemoryState

    def __init__(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        search_criteria: SearchCriteria | None = None,
        settings: Callable[[Runtime[Any]], Mapping[str, Any]] = settings_of,
        extract: Extract | None = None,
        roles: Sequence[str] = _ROLES,
        namespace: Sequence[str] = ROOT,
        raise_on_failure: bool = False,
    ) -> None:
        """Set up memory.

        Args:
            user_id: Fixed for this agent: a run that gives another one is refused.
            agent_id: The same for the agent.
            run_id: The same for a run, or for whatever the program calls one.
            search_criteria: ``filters``, ``query``, ``top_k`` and ``include_memory_metadata``; a
                run replaces them key by key.
            settings: Reads ids and criteria of a run from its runtime.
            extract: A function or runnable that makes texts or ``Memory`` objects of a run's new
                messages, to be kept in their place. The same texts are kept once.
            roles: Whose messages are kept: ``user``, ``assistant`` or both; none to only read.
            namespace: First labels of the namespaces in the store.
            raise_on_failure: End the run when the store or ``extract`` fails, instead of going on
                without memories.

        Raises:
            ConfigurationError: A setting is wrong.
            InvalidInputError: An id or the criteria cannot be used.
        """
        super().__init__()
        self._fixed = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        if any(value is not None for value in self._fixed.values()):
            MemoryScope(**self._fixed)
        read_criteria(search_criteria)
        self._criteria = search_criteria
        self._settings = settings
        self._extract = None if extract is None else _dual(extract)
        if isinstance(roles, str) or any(role not in _ROLES for role in roles):
            msg = f"roles is {roles!r}; give a list of 'user' and 'assistant'."
            raise ConfigurationError(msg)
        self._roles = tuple(roles)
        self._root = _checked_root(namespace)
        self._raises = raise_on_failure
        self._key = self.name

    def for_agent(self, name: str, tools: Mapping[str, BaseTool]) -> Self:  # noqa: ARG002
        """This middleware under its name among those of an agent."""
        bound = copy(self)
        bound._key = name  # noqa: SLF001
        return bound

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Search, and note where the run begins.

        Raises:
            MemoryScopeError: No id is given, or one may not be used.
            ConfigurationError: The agent has no store.
        """
        return drive(self._begin(state, runtime))

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """The same in an asynchronous run."""
        return await adrive(self._begin(state, runtime))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelCallResult:
        """Add what was found to the system prompt."""
        return drive(self._remind(request), handler)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult:
        """The same in an asynchronous run."""
        return await adrive(self._remind(request), handler)

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """Keep the new messages."""
        drive(self._keep(state, runtime))

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """The same in an asynchronous run."""
        await adrive(self._keep(state, runtime))

    def _scope(self, runtime: Runtime[Any]) -> MemoryScope:
        return scope_of(self._fixed, self._settings(runtime))

    def _begin(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, Any]]:
        notes = yield from self._found(state, runtime)
        return {"memory_notes": notes, "memory_beginning": beginning(state["messages"])}

    def _remind(self, request: ModelRequest[Any]) -> Flow[ModelCallResult]:
        """The request with the notes; a run that was resumed searches for them again."""
        notes: Mapping[str, str] | None = request.state.get("memory_notes")
        resumed = notes is None
        if notes is None:
            notes = yield from self._found(request.state, request.runtime)
        if text := notes.get(self._key):
            request = request.override(system_message=with_notes(request.system_message, text))
        response: Any = yield request
        if not resumed:
            return cast("ModelCallResult", response)
        return ExtendedModelResponse(response, Command(update={"memory_notes": dict(notes)}))

    def _found(self, state: Any, runtime: Runtime[Any]) -> Flow[dict[str, str]]:
        """Notes of this middleware beside those that others have found."""
        scope, store = self._scope(runtime), _store(runtime)
        search = read_criteria(self._criteria, self._settings(runtime).get("search_criteria"))
        messages: list[BaseMessage] = state["messages"]
        query = search.query if search.query is not None else _question(messages)
        items: Iterable[Any] = ()
        if query:
            wanted: dict[str, Any] = {"filter": scope.conditions or None, "query": query}
            items = yield from self._ask(
                "search", store, memory_namespace(scope, self._root), limit=CANDIDATES, **wanted
            )
        known = {str(message.id) for message in messages}
        found = best(items or (), search, query, scope, self._root, known)
        text = as_notes(found, with_metadata=search.with_metadata)
        return {**(state.get("memory_notes") or {}), self._key: text}

    def _keep(self, state: Any, runtime: Runtime[Any]) -> Flow[None]:
        begun: Mapping[str, Any] = state.get("memory_beginning") or {}
        if not self._roles:
            return
        fresh = new_messages(state["messages"], begun.get("before"), begun.get("given") or ())
        said = spoken(fresh, self._roles)
        scope, store = self._scope(runtime), _store(runtime)
        if not said:
            return
        writes: list[PutOp] = writes_of_messages(said, scope, self._root)
        if self._extract is not None:
            made = yield from self._tolerated(Ask(self._extract, (said,)), self._extract.name)
            writes = writes_of_memories(made, said, scope, self._root)
        if writes:
            yield from self._ask("batch", store, writes)

    def _ask(self, method: str, store: BaseStore, *args: Any, **kwargs: Any) -> Flow[Any]:
        """Call a method of the store in the style of the run."""
        name = f"{type(store).__name__}.{method}"
        here, later = (_bound(getattr(store, f"{a}{method}"), args, kwargs) for a in ("", "a"))
        both = Dual(name, here, later)
        try:
            return (yield from self._tolerated(Ask(both), name, NotImplementedError))
        except NotImplementedError:
            # Some stores are of one style only: a synchronous one then works in a thread.
            return (yield from self._tolerated(Ask(Dual(name, both.sync)), name))

    def _tolerated(self, ask: Ask, name: str, *passing: type[Exception]) -> Flow[Any]:
        """What was asked for, or nothing where it fails and the run may go on without."""
        try:
            return (yield ask)
        except Exception as error:
            if self._raises or isinstance(error, (GraphBubbleUp, *passing)):
                raise
            logger.warning("Memory goes without %s: it failed with %r.", name, error)
            return None


def _bound(method: Any, args: Any, kwargs: Any) -> Callable[[], Any]:
    return lambda: method(*args, **kwargs)


def _store(runtime: Runtime[Any]) -> BaseStore:
    if runtime.store is None:
        msg = "MemoryMiddleware needs a store; give one to create_agent(store=...)."
        raise ConfigurationError(msg)
    return runtime.store


def _question(messages: Sequence[BaseMessage]) -> str:
    """The text of the last message that a person wrote."""
    return next((m.text.strip() for m in reversed(messages) if is_real_user(m)), "")


def _dual(extract: Any) -> Dual:
    if isinstance(extract, Runnable):
        runnable = cast("Runnable[Any, Any]", extract)
        return Dual("extract", runnable.invoke, runnable.ainvoke)
    if callable(extract):
        return Dual.of(extract, "extract")
    msg = f"extract is {extract!r}; give a function or a runnable."
    raise ConfigurationError(msg)


def _checked_root(namespace: Any) -> tuple[str, ...]:
    labels: tuple[Any, ...] = () if isinstance(namespace, str) else tuple(namespace)
    plain = all(isinstance(label, str) and label.replace("-", "").isalnum() for label in labels)
    if not labels or not plain or labels[0] == "langgraph":
        msg = f"namespace is {namespace!r}; give labels of letters, digits and dashes."
        raise ConfigurationError(msg)
    return labels
