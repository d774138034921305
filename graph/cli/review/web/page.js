// The page: the list of threads that wait, and the one that is looked at.
import { Card, keyOf } from "./card.js";
import { age, el, prose, visible } from "./draw.js";
import { stringify } from "./form.js";

const EVERY_MS = 3000;
const csrf = document.querySelector("meta[name=csrf]").content;
const part = (id) => document.getElementById(id);

let current = null;
let canAnswer = false;
let drawn = null;
let listed = null;
let shown = "";
let cards = new Map();
let turn = Promise.resolve();
const staged = new Map();

// The key has done its work: it is in a cookie now, and should not stay in the address.
if (location.search.includes("key=")) history.replaceState(null, "", "/");

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: stringify(body), headers: { "content-type": "application/json", "x-csrf-token": csrf } };
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Error("The server does not answer; is the command still running?");
  }
  const told = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(told.error ?? `The server refused this (${response.status}).`);
    throw Object.assign(error, { gone: response.status === 409 });
  }
  return told;
}

/** Draw the list anew if it is another one, so that focus and hover stay where they are. */
function drawQueue(threads) {
  const key = JSON.stringify(threads);
  if (key !== listed) {
    listed = key;
    const focused = document.activeElement?.closest("#queue li")?.dataset.thread;
    part("count").textContent = threads.length ? String(threads.length) : "";
    document.title = threads.length ? `(${threads.length}) Approvals` : "Approvals";
    part("queue").replaceChildren(...(threads.length ? threads.map(line) : [el("li", { className: "none" }, "Nothing waits.")]));
    if (focused !== undefined) lineOf(focused)?.querySelector("button").focus();
  }
  for (const [n, thread] of threads.entries()) part("queue").children[n].querySelector(".age").textContent = age(thread.since);
  mark();
}

function line(thread) {
  const tools = [...new Set(thread.tools)];
  const item = el("li", {}, el("button", { type: "button", on: { click: () => open(thread.id) } },
    el("span", { className: "line" }, el("span", { className: "thread", title: visible(thread.id) }, visible(thread.id)), el("span", { className: "age", title: thread.since ?? "" })),
    el("span", { className: "tools" }, thread.problem ? el("span", { className: "chip bad" }, "cannot be read") : tools.slice(0, 4).map((tool) => el("span", { className: "chip" }, visible(tool), count(thread.tools, tool))))));
  item.dataset.thread = thread.id;
  return item;
}

const lineOf = (id) => [...part("queue").children].find((item) => item.dataset.thread === id);

/** Mark the thread that is looked at. */
function mark() {
  for (const item of part("queue").children) item.querySelector("button")?.setAttribute("aria-current", String(item.dataset.thread === current));
}

function count(tools, tool) {
  const times = tools.filter((other) => other === tool).length;
  return times > 1 ? el("span", { className: "times" }, `×${times}`) : null;
}

async function refresh() {
  try {
    const told = await ask("/api/waiting");
    canAnswer = told.can_answer;
    part("state").textContent = told.can_answer ? "" : "Read only";
    part("state").className = told.can_answer ? "state" : "state readonly";
    drawQueue(told.threads);
    if (current === null && told.threads.length) await open(told.threads[0].id);
    else if (current !== null) await followed(told.threads.find((thread) => thread.id === current));
    else nothing("Nothing waits for you.", "New approvals show up here by themselves.");
  } catch (error) {
    part("state").textContent = error.message;
    part("state").className = "state bad";
  }
}

/** Show what others did to the thread, unless somebody works on it here. */
async function followed(thread) {
  const works = [...cards.values()].some((card) => card.touched);
  if (!works && (thread?.ids ?? []).join() !== shown) await open(current, false);
}

async function open(id, scroll = true) {
  current = id;
  mark();
  try {
    const sheet = await ask(`/api/thread?id=${encodeURIComponent(id)}`);
    if (current === id) drawSheet(id, sheet, scroll);
  } catch (error) {
    nothing("This thread cannot be shown.", error.message);
  }
}

function drawSheet(id, sheet, scroll) {
  if (id !== drawn) staged.clear();
  const before = id === drawn ? cards : new Map();
  drawn = id;
  const waiting = new Set(sheet.approvals.map((a) => a.id.split("/").pop()));
  cards = new Map();
  for (const [n, approval] of sheet.approvals.entries()) {
    const key = keyOf(approval);
    const place = sheet.approvals.length > 1 ? `${n + 1} of ${sheet.approvals.length}` : "";
    const card = before.get(key) ?? new Card(approval, place, canAnswer, (own, decision) => inTurn(() => decided(id, own, decision)));
    card.renew(approval, place);
    cards.set(key, card);
  }
  shown = sheet.approvals.map((a) => a.id).join();
  const title = cards.size > 1 ? "Your decisions" : "Your decision";
  part("sheet").replaceChildren(
    el("header", { className: "head" }, el("h2", {}, visible(id)), sheet.since ? el("p", { title: sheet.since }, `waits for ${age(sheet.since)}`) : null),
    el("div", { className: "pane", id: "talk" }, el("h3", { className: "title" }, "Conversation"), conversation(sheet, waiting)),
    el("div", { className: "pane", id: "decisions" },
      el("h3", { className: "title" }, cards.size ? title : "Nothing to decide"),
      sheet.problem ? el("p", { className: "alert" }, visible(sheet.problem)) : "",
      cards.size ? el("div", { className: "cards", id: "cards" }, canAnswer ? "" : readOnly(), [...cards.values()].map((card) => card.node)) : decidedAll()));
  part("talk").scrollTop = part("talk").scrollHeight;
  if (scroll) part("decisions").scrollTop = 0;
}

const nextThread = () => part("queue").querySelector("button:not([aria-current=true])");

const decidedAll = () => el("div", {}, el("p", { className: "done" }, "Nothing waits in this thread any more."),
  nextThread() ? el("button", { type: "button", className: "next", on: { click: () => nextThread()?.click() } }, "Next thread") : null);

const readOnly = () => el("p", { className: "banner" }, "You can look, but not answer: answers go to the agent, which checks them and goes on. Start this with ", el("code", {}, "--agent package.module:agent"), ".");

/** One answer at a time: what is left may wait in another pause when one was given. */
function inTurn(run) {
  turn = turn.catch(() => {}).then(run);
  turn.catch((error) => { if (error.gone) toast(error.message, true); });
  return turn;
}

async function decided(thread, card, decision) {
  let answers = { [card.approval.id]: decision };
  if (card.approval.together) {
    const group = [...cards.values()].filter((other) => other.approval.pause === card.approval.pause);
    staged.set(card.key, decision);
    const missing = group.filter((other) => !staged.has(other.key)).length;
    if (missing) {
      toast(`These calls are answered together; ${missing} to go.`);
      return true;
    }
    answers = Object.fromEntries(group.map((other) => [other.approval.id, staged.get(other.key)]));
    staged.clear();
  }
  const outcome = await ask("/api/answer", { thread, answers });
  toast(outcome.failure ? outcome.failure : outcome.waits ? "Done. The thread waits for more." : "Done. The run came to its end.", outcome.failure);
  cards.delete(card.key);
  if (current === thread) {
    await open(thread, false);
    for (const other of cards.values()) other.rest();
    part("sheet").focus({ preventScroll: true });
  }
  await refresh();
  return false;
}

function conversation(sheet, waiting) {
  const earlier = sheet.earlier ? el("li", { className: "earlier" }, `${sheet.earlier} earlier messages`) : null;
  return el("ol", { className: "talk", "aria-label": "Conversation" }, earlier, sheet.messages.map((m) => message(m, waiting)));
}

const ROLES = { human: "User", ai: "Agent", tool: "Result", system: "System" };

function message(m, waiting) {
  const name = ROLES[m.role] ?? m.role;
  const text = m.text ? el("div", { className: "text" }, prose(m.text), m.cut ? el("p", { className: "hint" }, `${m.cut} more characters`) : null) : null;
  const calls = m.calls.map((call) => el("details", { className: waiting.has(call.id) ? "call waits" : "call" },
    el("summary", {}, el("code", {}, visible(call.name)), el("span", { className: "gist" }, visible(call.gist)), waiting.has(call.id) ? el("span", { className: "chip wait" }, "waits") : null),
    el("pre", {}, prose(call.text))));
  return el("li", { className: `said ${m.role}${m.failed ? " failed" : ""}` },
    el("span", { className: "who" }, name, m.name ? el("span", { className: "by", title: visible(m.name) }, visible(m.name)) : null),
    el("div", { className: "what" }, text, calls));
}

function nothing(title, text) {
  part("sheet").replaceChildren(el("div", { className: "empty" }, el("p", { className: "big" }, title), el("p", {}, visible(text))));
}

let hiding;
function toast(text, bad) {
  const box = part("toast");
  box.textContent = visible(text);
  box.className = bad ? "toast bad" : "toast";
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, bad ? 12000 : 5000);
}

async function keepFresh() {
  await refresh();
  setTimeout(keepFresh, EVERY_MS);
}

addEventListener("focus", refresh);
keepFresh();
