"""The page in a browser: what a reviewer sees and does, and what a thread cannot do to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts a browser

Office = Any
Page = Any
Tab = Any
Serve = Callable[[Any], Page]

HOSTILE = "<script>hacked()</script><img src=x onerror=hacked()>[x](javascript:hacked())\u202egnp"


def card(tab: Tab, number: int = 1) -> Tab:
    return tab.locator(".card").nth(number - 1)


def test_conversation_and_call_are_shown_and_approved(office: Office, visit: Any) -> None:
    office.begin("order 7", ("send", {"to": "Ann"}), text="I write to Ann.")
    tab = visit(office.desk())
    assert "key=" not in tab.url
    assert tab.locator("#queue .thread").all_inner_texts() == ["order 7"]
    assert tab.locator(".said .text").all_inner_texts() == ["Please go on", "I write to Ann."]
    assert card(tab).locator(".tool").inner_text() == "send"
    assert card(tab).get_by_label("to", exact=True).input_value() == "Ann"

    card(tab).get_by_role("button", name="Approve").click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert tab.locator(".said .text").last.inner_text() == "All is done."
    assert office.did == ["1 letter to Ann"]


def test_form_is_drawn_from_the_schema_and_an_edit_runs(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann", "copies": 12345678901234567890}))
    tab = visit(office.desk())
    form = card(tab)
    assert form.get_by_label("kind").locator("option").all_inner_texts() == [
        "not given", "letter", "card",
    ]  # fmt: skip
    form.get_by_label("to", exact=True).fill("Bob")
    form.get_by_label("kind").select_option(label="card")
    form.get_by_label("tags").fill('["a", ')
    form.get_by_role("button", name="Approve changes").click()
    form.get_by_text("This is no valid JSON.").wait_for()

    form.get_by_label("tags").fill('["a"]')
    form.get_by_role("button", name="Approve changes").click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert office.did == ["12345678901234567890 card to Bob ['a']"]


def test_refused_edit_is_told_and_can_be_given_again(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann", "copies": 1}))
    tab = visit(office.desk())
    form = card(tab)
    form.get_by_label("copies").fill("many")
    form.get_by_role("button", name="Approve changes").click()
    form.get_by_text("Give a whole number").wait_for()
    form.get_by_role("button", name="Undo").click()
    form.get_by_role("button", name="Approve", exact=True).click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert office.did == ["1 letter to Ann"]


def test_calls_are_decided_one_by_one_and_what_was_typed_stays(office: Office, visit: Any) -> None:
    office.begin("t", *(("send", {"to": to}) for to in ("Ann", "Bob", "Eve")))
    tab = visit(office.desk())
    card(tab, 3).get_by_label("to", exact=True).fill("Zoe")
    card(tab, 1).get_by_label("Message to the model").fill("Ann has moved.")
    card(tab, 1).get_by_role("button", name="Reject").click()
    tab.get_by_text("1 of 2").wait_for()
    card(tab, 1).get_by_role("button", name="Answer instead").click()
    card(tab, 1).get_by_text("Write the answer into the message").wait_for()
    card(tab, 1).get_by_label("Message to the model").fill("Bob knows it.")
    card(tab, 1).get_by_role("button", name="Answer instead").click()
    card(tab, 2).wait_for(state="detached")
    card(tab).get_by_role("button", name="Approve changes").click()

    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    said = "\n".join(tab.locator(".said.tool .text").all_inner_texts())
    assert "Ann has moved." in said
    assert "Bob knows it." in said
    assert office.did == ["1 letter to Zoe"]


def test_second_of_two_reviewers_is_told(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    desk = office.desk()
    one, other = visit(desk), visit(desk)
    other.evaluate("window.setTimeout = () => 0")  # this one does not look again by itself
    card(one).get_by_role("button", name="Approve").click()
    one.get_by_text("Nothing waits in this thread any more.").wait_for()
    card(other).get_by_role("button", name="Reject").click()
    other.get_by_text("was answered before").first.wait_for()
    assert office.did == ["1 letter to Ann"]


def test_double_click_gives_one_answer(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}), ("send", {"to": "Bob"}))
    tab = visit(office.desk())
    card(tab).get_by_role("button", name="Approve").dblclick()
    card(tab, 2).wait_for(state="detached")
    assert card(tab).get_by_label("to", exact=True).input_value() == "Bob"
    assert len(office.desk().waiting()) == 1


def test_late_second_click_does_not_approve_the_call_that_moved_up(
    office: Office, visit: Any
) -> None:
    office.begin("t", ("send", {"to": "Ann"}), ("send", {"to": "Bob"}))
    tab = visit(office.desk())
    box = card(tab).get_by_role("button", name="Approve").bounding_box()
    place = (box["x"] + 20, box["y"] + 10)
    tab.mouse.click(*place)
    card(tab, 2).wait_for(state="detached")
    assert card(tab).get_by_role("button", name="Approve").bounding_box() == box
    tab.mouse.click(*place)
    card(tab).get_by_role("button", name="Reject").click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert office.did == ["1 letter to Ann"]


def test_calls_of_a_pause_that_counts_them_are_answered_together(
    office: Office, visit: Any
) -> None:
    office.begin("t", ("batch", {"names": ["Ann", "Bob"]}))
    tab = visit(office.desk())
    card(tab, 2).get_by_role("button", name="Reject").click()
    tab.get_by_text("1 to go").wait_for()
    assert office.did == []
    card(tab, 1).get_by_role("button", name="Approve").click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert office.did == ["approve reject"]


def test_edit_may_run_another_tool_where_that_is_allowed(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}), allow_tool_change=True)
    tab = visit(office.desk(allow_tool_change=True))
    card(tab).get_by_label("Tool to run").select_option("ask")
    assert card(tab).get_by_label("to", exact=True).count() == 0
    card(tab).get_by_label("question").fill("Where is Ann?")
    card(tab).get_by_role("button", name="Approve changes").click()
    tab.locator(".question", has_text="Where is Ann?").wait_for()
    assert office.did == []


def test_nothing_of_a_thread_becomes_markup(office: Office, visit: Any) -> None:
    args = {"to": HOSTILE, "tags": {HOSTILE: HOSTILE}, HOSTILE: HOSTILE}
    rule = {"allowed_decisions": ["approve", "edit", "reject"], "description": HOSTILE}
    office.begin(HOSTILE, ("send", args), text=HOSTILE, said=HOSTILE, rule=rule)
    tab = visit(office.desk())
    tab.locator("details summary").first.click()
    assert tab.evaluate("document.querySelectorAll('img, a, script').length") == 2
    assert "<script>hacked()</script>" in tab.locator("main").inner_text()
    assert card(tab).get_by_label("to", exact=True).input_value() == HOSTILE
    assert "\\u{202e}" in card(tab).locator(".note").first.inner_text()
    assert "\u202e" not in tab.locator("body").inner_text()


def test_policy_of_the_page_stops_markup_and_scripts_of_others(
    office: Office, browser: Any, serve: Serve
) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(serve(office.desk()).address)
    tab.wait_for_selector(".card")
    for attack in ("body.innerHTML = '<b>x</b>'", "scripts[0].text = '1'", "scripts[0].src = '/x'"):
        tried = f"() => {{ try {{ document.{attack} }} catch (error) {{ return error.name }} }}"
        assert tab.evaluate(tried) == "TypeError"
    context.close()


def _serve_something(route: Any) -> None:
    route.fulfill(body="<p>evil", content_type="text/html")


def test_other_site_cannot_answer_or_read(office: Office, browser: Any, serve: Serve) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    page = serve(office.desk())
    (thread,) = office.desk().waiting()
    context = browser.new_context()
    context.new_page().goto(page.address)
    evil = context.new_page()
    evil.route("http://evil.example/", _serve_something)
    evil.goto("http://evil.example/")
    body = f'{{"thread":"t","answers":{{"{thread.approvals[0].full_id}":{{"type":"approve"}}}}}}'
    attack = """async ([origin, body]) => {
      const tell = (p) => p.then((r) => r.text(), (e) => e.name);
      return [
        await tell(fetch(origin + "/api/answer", {method: "POST", body, mode: "no-cors", credentials: "include"})),
        await tell(fetch(origin + "/api/answer", {method: "POST", body, credentials: "include", headers: {"content-type": "application/json"}})),
        await tell(fetch(origin + "/api/waiting", {credentials: "include"})),
      ];
    }"""
    assert evil.evaluate(attack, [page.origin, body]) == ["TypeError"] * 3
    context.close()
    assert (office.did, len(office.desk().waiting())) == ([], 1)


def test_without_the_agent_there_is_nothing_to_press(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    tab = visit(office.desk(reads_only=True))
    assert "--agent" in tab.locator(".banner").inner_text()
    assert tab.locator(".card button:visible").count() == 0
    assert card(tab).get_by_label("to", exact=True).get_attribute("readonly") is not None


def test_question_is_answered(office: Office, visit: Any) -> None:
    office.begin("t", ("ask", {"question": "Red or blue?"}))
    tab = visit(office.desk())
    assert card(tab).locator(".question").inner_text() == "Red or blue?"
    card(tab).get_by_label("Answer").fill("blue")
    card(tab).get_by_role("button", name="Answer").click()
    tab.get_by_text("Nothing waits in this thread any more.").wait_for()
    assert office.did == ["heard 'blue'"]


def test_new_thread_shows_up_by_itself(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    tab = visit(office.desk())
    office.begin("u", ("send", {"to": "Bob"}))
    tab.evaluate("window.dispatchEvent(new Event('focus'))")
    tab.locator("#queue .thread", has_text="u").wait_for()
    assert tab.title() == "(2) Approvals"


def test_list_keeps_the_focus_when_it_is_read_again(office: Office, visit: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    office.begin("u", ("send", {"to": "Bob"}))
    tab = visit(office.desk())
    tab.locator("#queue button").nth(1).focus()
    office.begin("v", ("send", {"to": "Eve"}))
    tab.evaluate("window.dispatchEvent(new Event('focus'))")
    tab.locator("#queue .thread", has_text="v").wait_for()
    tab.keyboard.press("Enter")
    tab.locator(".head h2", has_text="u").wait_for()
    assert tab.locator("[aria-current=true] .thread").all_inner_texts() == ["u"]


def test_narrow_and_dark_pages_need_no_sideways_scrolling(office: Office, visit: Any) -> None:
    office.begin("t " * 60, ("send", {"to": "Ann" * 200, "tags": ["x" * 300]}), text="long" * 300)
    for width, scheme in ((360, "dark"), (1280, "light")):
        tab = visit(office.desk(), viewport={"width": width, "height": 800}, color_scheme=scheme)
        tab.wait_for_selector(".card")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
