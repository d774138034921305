"""Listing what waits for a person in a thread, and answering it by id.

Answers are checked before anything of them is stored, and are given to exactly the pauses they
name. An answer that is refused changes nothing; neither does one that comes twice, too late, or
to another thread.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import UnknownInterruptError, is_invalid_resume
from langgraph.types import Command, Interrupt, StateSnapshot
from pydantic import ValidationError

from ...middleware.approval.answer import read_answer
from ...middleware.approval.answer_text import text_problem
from ...middleware.approval.pending import (
    PendingApproval,
    pending_in,
    resume_value,
)
from ...middleware.approval.request import asked_in, is_single
from ...state.approval_errors import CannotPauseError, InvalidDecisionError, NotWaitingError
from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ...tools.schema_fit import first_problem
from ..engine import addresses_pauses, present_of, stores_threads, strictly
from .answered import open_interrupts


def pending(graph: Any, config: RunnableConfig) -> list[PendingApproval]:
    """Everything that waits for an answer in a thread, in the order in which it was asked.

    Args:
        graph: A compiled graph with a checkpointer: an agent, or a graph around agents.
        config: With the ``thread_id``.

    Raises:
        CannotPauseError: The graph has no checkpointer, so nothing can wait.
    """
    return run_inline(_pending(BLOCKING, graph, config))


async def apending(graph: Any, config: RunnableConfig) -> list[PendingApproval]:
    """:func:`pending` on an event loop."""
    return await _pending(AWAITING, graph, config)


def answer(graph: Any, decisions: Mapping[str, Any], config: RunnableConfig, **options: Any) -> Any:
    """Answer what waits, all of it or some, and let the thread go on.

    Args:
        graph: The graph that paused, which may have been built anew since.
        decisions: Answers by the ids of :func:`pending`: a decision for a tool call, and what a
            question expects for anything else. With the id of the pause and a slash before it,
            an id can never mean a later call that the model gave the same id.
        config: With the ``thread_id``.
        **options: As of the graph's ``invoke``.

    Returns:
        What ``invoke`` returns; ``__interrupt__`` in it holds what waits now.

    Raises:
        NotWaitingError: An id does not wait in this thread, or is being answered just now.
        InvalidDecisionError: An answer does not fit what it answers.
        CannotPauseError: The graph has no checkpointer, so nothing can wait.
    """
    return run_inline(_answer(BLOCKING, graph, decisions, config, options))


async def aanswer(
    graph: Any, decisions: Mapping[str, Any], config: RunnableConfig, **options: Any
) -> Any:
    """:func:`answer` on an event loop."""
    return await _answer(AWAITING, graph, decisions, config, options)


async def addressed(
    calls: Calls, graph: Any, command: Command[Any], config: RunnableConfig
) -> Command[Any]:
    """A command whose answer names the pause it is for, checked as far as it can be here.

    langgraph keeps a bare answer that does not fit and gives it to the next pause; one that names
    its pause is forgotten. So an agent's graph passes every command through here first.

    Args:
        calls: How to read the thread.
        graph: The graph.
        command: What the caller wants to resume with.
        config: The thread; of a run inside another graph the outer one answers.

    Raises:
        NotWaitingError: Nothing waits, several pauses wait for a bare answer, or one that is
            named does not.
        InvalidDecisionError: The answer to a review is not one, or the command holds nothing.
    """
    if command.resume is None and not (command.update or command.goto or command.graph):
        msg = (
            "Command(resume=None) holds no answer. Give one, or invoke the thread with None to go "
            "on after a breakpoint or a failure."
        )
        raise InvalidDecisionError(msg)
    if command.resume is None or command.graph is not None or addresses_pauses(config):
        return command
    if not stores_threads(graph, config):
        return command
    return address(command, await _open(calls, graph, config))


def address(command: Command[Any], interrupts: Sequence[Interrupt[Any]]) -> Command[Any]:
    """:func:`addressed` for a thread in which these interrupts wait: a pure function."""
    waiting = {i.id: i for i in interrupts}
    resume: Any = command.resume
    if _names_pauses(resume):
        answers = cast("dict[str, Any]", resume)
        if unknown := [i for i in answers if i not in waiting]:
            raise _not_waiting(unknown, list(waiting))
    elif len(waiting) == 1:
        answers = {next(iter(waiting)): resume}
    elif waiting:
        msg = (
            f"{len(waiting)} pauses wait for an answer; say which one this is for: "
            f"Command(resume={{id: answer}}) with ids of {sorted(waiting)}."
        )
        raise NotWaitingError(msg, waiting=sorted(waiting))
    else:
        msg = (
            "This thread does not wait for an answer, so there is nothing to resume; to go on "
            "after a breakpoint or a failure, invoke it with None."
        )
        raise NotWaitingError(msg)
    for ident, given in answers.items():
        _check(waiting[ident], given, alone=len(answers) == 1)
    return replace(command, resume=answers)


async def _pending(calls: Calls, graph: Any, config: RunnableConfig) -> list[PendingApproval]:
    if not stores_threads(graph, config):
        msg = "This graph has no checkpointer, so nothing can wait in it; compile it with one."
        raise CannotPauseError(msg)
    return pending_in(await _open(calls, graph, present_of(config)))


async def _answer(
    calls: Calls,
    graph: Any,
    decisions: Mapping[str, Any],
    config: RunnableConfig,
    options: Mapping[str, Any],
) -> Any:
    thread = present_of(config)
    waiting = {p.id: p for p in await _pending(calls, graph, config)}
    in_full = {p.full_id: p.id for p in waiting.values()}
    decisions = {in_full.get(ident, ident): given for ident, given in decisions.items()}
    if unknown := [i for i in decisions if i not in waiting]:
        known = await _answered(calls, graph, thread)
        raise _not_waiting(unknown, list(waiting), known)
    if not decisions:
        msg = f"No decisions were given; those that wait are {sorted(waiting) or 'none'}."
        raise NotWaitingError(msg, waiting=sorted(waiting))
    for ident, given in decisions.items():
        waiting[ident].check(given)
    resume = _resume_map(list(waiting.values()), decisions)
    invoke = Dual("invoke", partial(graph.invoke, **options), partial(graph.ainvoke, **options))
    try:
        with _claimed(resume):
            return await calls.call(invoke, Command(resume=resume), strictly(thread))
    except UnknownInterruptError as error:
        raise _not_waiting(error.interrupt_ids, error.pending_ids) from error
    except ValidationError as error:
        if not is_invalid_resume(error):
            raise
        raise _refused(error) from error


def _resume_map(waiting: Sequence[PendingApproval], decisions: Mapping[str, Any]) -> dict[str, Any]:
    """The answers by the ids of the pauses they belong to."""
    pauses = dict.fromkeys(p.interrupt_id for p in waiting if p.id in decisions)
    groups = {i: [p for p in waiting if p.interrupt_id == i] for i in pauses}
    return {ident: resume_value(group, decisions) for ident, group in groups.items()}


async def _open(calls: Calls, graph: Any, config: RunnableConfig) -> list[Interrupt[Any]]:
    """The interrupts that wait in a thread."""
    return await open_interrupts(calls, graph, config, await _read(calls, graph, config))


async def _read(calls: Calls, graph: Any, config: RunnableConfig) -> StateSnapshot:
    get_state = Dual("get_state", graph.get_state, graph.aget_state)
    return cast("StateSnapshot", await calls.call(get_state, config))


async def _answered(calls: Calls, graph: Any, config: RunnableConfig) -> set[str]:
    """Ids of the tool calls of the thread that have a result."""
    values: Any = (await _read(calls, graph, config)).values
    messages: Any = cast("Any", values).get("messages") if isinstance(values, dict) else None
    return {m.tool_call_id for m in messages or () if isinstance(m, ToolMessage)}


def _names_pauses(resume: Any) -> bool:
    """Whether an answer is a map of interrupt ids, by langgraph's own measure."""
    if not isinstance(resume, dict) or not resume:
        return False
    keys = cast("dict[Any, Any]", resume)
    return all(isinstance(k, str) and len(k) == 32 and _is_hex(k) for k in keys)  # noqa: PLR2004


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdef" for c in text)


def _check(interrupt: Interrupt[Any], given: Any, *, alone: bool) -> None:
    """Refuse an answer to a review, and any that comes with others, that does not fit.

    A single answer to anything else is left to langgraph, which checks it before it is stored;
    of several, the others might have run by then.
    """
    asked = asked_in(interrupt.value)
    review = asked is not None and not is_single(interrupt.value)
    if asked is not None and review:
        read_answer(given, asked)
    problem = text_problem(given) if asked is not None or not alone else None
    if problem is None and (review or not alone):
        problem = first_problem(given, interrupt.response_schema)
    if problem is not None:
        msg = f"The answer to pause {interrupt.id!r} is refused: {problem}. It still waits."
        raise InvalidDecisionError(msg)


def _not_waiting(
    unknown: Sequence[str], waiting: Sequence[str], answered: set[str] | None = None
) -> NotWaitingError:
    known = [i for i in unknown if i.rpartition("/")[2] in (answered or set())]
    what = f"{known[0]!r} was answered before" if known else f"{unknown[0]!r} does not wait here"
    rest = f"what waits is {sorted(waiting)}" if waiting else "nothing waits in this thread"
    return NotWaitingError(f"{what}; {rest}.", asked=unknown, waiting=sorted(waiting))


def _refused(error: ValidationError) -> InvalidDecisionError:
    lines = [
        f"{'.'.join(map(str, e['loc']))}: {e['msg']}"
        for e in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return InvalidDecisionError(f"The answer is refused: {'; '.join(lines)}. It still waits.")


_IN_HAND: set[str] = set()
"""Ids of the pauses that are being answered in this process: they are unique everywhere."""

_IN_HAND_LOCK = Lock()


@contextmanager
def _claimed(idents: Mapping[str, Any]) -> Generator[None]:
    """Keep others in this process from answering the same pauses at the same time.

    Two answers that both see the pause before either is stored would each run the tool.

    Raises:
        NotWaitingError: Somebody else is answering one of them.
    """
    with _IN_HAND_LOCK:
        if taken := sorted(_IN_HAND & set(idents)):
            msg = f"Pause {taken[0]!r} is being answered just now; look again when that is done."
            raise NotWaitingError(msg, asked=taken)
        _IN_HAND.update(idents)
    try:
        yield
    finally:
        with _IN_HAND_LOCK:
            _IN_HAND.difference_update(idents)
