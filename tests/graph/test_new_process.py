"""A pause between hooks that is answered in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
from pathlib import Path
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt
from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatResult

folder = Path(sys.argv[1])

def note(what):
    with (folder / "log").open("a") as out:
        out.write(what + "\\n")

class Model(BaseChatModel):
    @property
    def _llm_type(self):
        return "noting"

    def _generate(self, messages, stop=None, run_manager=None, **_):
        note("model")
        return ChatResult(generations=[ChatGeneration(message=AIMessage("answer"))])

def hook(number):
    def after_model(self, state, runtime):
        if number == 3:
            note("3: " + interrupt("may it pass?"))
        else:
            note(str(number))
    members = {"after_model": after_model, "interrupts": number == 3 and sys.argv[2] == "declared"}
    return type(f"Hook{number}", (AgentMiddleware,), members)()

config = {"configurable": {"thread_id": "t"}}
with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
    # after_model hooks run in reverse
    agent = create_agent(Model(), [], middleware=[hook(n) for n in (5, 4, 3, 2, 1)], checkpointer=saver)
    waiting = agent.get_state(config).interrupts
    value = Command(resume={waiting[0].id: "yes"}) if waiting else {"messages": "hi"}
    result = agent.invoke(value, config)
    print(json.dumps([m.text for m in result["messages"]]))
"""


def run_in_a_process(folder: Path, how: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), how],
        check=True,
        capture_output=True,
        cwd=folder,
        timeout=60,
    )
    answer: list[str] = json.loads(done.stdout)
    return answer


def test_nothing_before_a_declared_pause_runs_again(tmp_path: Path) -> None:
    run_in_a_process(tmp_path, "declared")
    assert (tmp_path / "log").read_text().split("\n")[:-1] == ["model", "1", "2"]
    assert run_in_a_process(tmp_path, "declared") == ["hi", "answer"]
    log = (tmp_path / "log").read_text().split("\n")[:-1]
    assert log == ["model", "1", "2", "3: yes", "4", "5"]


def test_nothing_before_an_undeclared_pause_runs_again(tmp_path: Path) -> None:
    run_in_a_process(tmp_path, "undeclared")
    run_in_a_process(tmp_path, "undeclared")
    log = (tmp_path / "log").read_text().split("\n")[:-1]
    assert log == ["model", "1", "2", "3: yes", "4", "5"]
