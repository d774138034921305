// One thing that waits: the call as a form, and what a reviewer can do about it.
import { el, prose, visible } from "./draw.js";
import { Form, Raw, plainFields } from "./form.js";

const REST_MS = 600;

/** What a card is for: one exact call, or one question. */
export const keyOf = ({ id, pause, kind, tool, args }) => JSON.stringify([kind === "question" ? pause : id.split("/").pop(), tool, args]);

/** `send(card, decision)` stores an answer; it throws an Error with the reason if it is refused. */
export class Card {
  constructor(approval, place, canAnswer, send) {
    this.approval = approval;
    this.canAnswer = canAnswer;
    this.send = send;
    this.key = keyOf(approval);
    this.tool = approval.tool;
    this.buttons = [];
    this.place = el("span", { className: "place" }, place);
    this.alert = el("p", { className: "alert", role: "alert", hidden: true });
    this.body = el("div", { className: "body" });
    this.node = el("section", { className: "card", "aria-label": `Decision ${place}`.trim() },
      el("header", {},
        el("span", { className: "tag" }, approval.kind === "question" ? "Question" : "Wants to run"),
        approval.tool ? el("code", { className: "tool" }, visible(approval.tool)) : null,
        this.place),
      this.body, this.alert);
    if (approval.kind === "question") this.drawQuestion();
    else this.drawCall();
  }

  /** The same call, asked about again: what was entered stays. */
  renew(approval, place) {
    this.approval = approval;
    this.place.textContent = place;
    if (approval.in_hand && !this.node.classList.contains("busy")) {
      this.busy("Somebody is answering this just now.");
      this.node.classList.add("foreign");
    } else if (!approval.in_hand && this.node.classList.contains("foreign")) this.free();
  }

  get touched() {
    return this.node.matches(".edited, .busy:not(.foreign)") || Boolean(this.text?.value) || Boolean(this.form.changed);
  }

  allows(kind) {
    return this.approval.allowed.includes(kind);
  }

  drawCall() {
    const { description, args, forms } = this.approval;
    const names = Object.keys(forms);
    this.formArea = el("div", {});
    this.body.replaceChildren(
      description ? el("div", { className: "description" }, prose(description)) : "",
      names.length > 1 ? this.chooser(names) : "",
      this.formArea,
      this.messageArea("Message to the model", "A reason or a note"));
    this.drawForm(args);
    if (!this.canAnswer) return;
    const approves = this.allows("approve") || this.allows("edit");
    this.approve = approves ? this.button("primary", "Approve", () => this.approved()) : null;
    this.body.append(el("div", { className: "actions" },
      this.approve,
      this.allows("respond") ? this.button("", "Answer instead", () => this.responded()) : null,
      this.allows("reject") ? this.button("danger", "Reject", () => this.decide({ type: "reject", ...this.message() })) : null));
    this.retitle();
  }

  drawForm(args) {
    const { forms, tool } = this.approval;
    const editable = this.canAnswer && this.allows("edit");
    const specs = forms[this.tool] ?? plainFields(args);
    const known = new Set(specs.map((spec) => spec.name));
    const kept = this.tool === tool ? args : Object.fromEntries(Object.entries(args).filter(([name]) => known.has(name)));
    this.form = new Form(specs, kept, editable, () => this.retitle());
    this.formArea.replaceChildren(this.form.node);
    requestAnimationFrame(() => this.form.fields.forEach((field) => grow(field.input)));
    this.form.node.addEventListener("input", (event) => grow(event.target));
  }

  chooser(names) {
    const select = el("select", { id: `tool-${this.approval.id}`, disabled: !this.canAnswer, on: { change: () => { this.tool = select.value; this.drawForm(this.approval.args); this.retitle(); } } },
      names.map((name) => el("option", { value: name, selected: name === this.tool }, visible(name))));
    return el("div", { className: "field" }, el("div", { className: "label" }, el("label", { htmlFor: select.id }, "Tool to run")), select);
  }

  messageArea(label, hint) {
    if (!this.canAnswer) return "";
    const id = `message-${this.approval.id}`;
    this.text = el("textarea", { id, rows: 1, placeholder: hint });
    this.text.addEventListener("input", () => grow(this.text));
    return el("div", { className: "field message" }, el("div", { className: "label" }, el("label", { htmlFor: id }, label), el("span", { className: "mark" }, "optional")), this.text);
  }

  button(kind, label, run) {
    const button = el("button", { type: "button", className: kind, on: { click: run } }, label);
    this.buttons.push(button);
    return button;
  }

  message() {
    const text = this.text.value.trim();
    return text ? { message: text } : {};
  }

  get changed() {
    return this.tool !== this.approval.tool || this.form.changed;
  }

  retitle() {
    if (!this.approve) return;
    const edits = this.changed || !this.allows("approve");
    this.approve.textContent = edits ? "Approve changes" : "Approve";
    this.node.classList.toggle("edited", this.changed);
  }

  approved() {
    if (!this.changed && this.allows("approve")) return this.decide({ type: "approve", ...this.message() });
    const args = this.form.read();
    if (args === null) return undefined;
    return this.decide({ type: "edit", edited_action: { name: this.tool, args }, ...this.message() });
  }

  responded() {
    const text = this.text.value.trim();
    if (!text) {
      this.fail("Write the answer into the message: the model reads it as the result of the call.");
      this.text.focus();
      return undefined;
    }
    return this.decide({ type: "respond", message: text });
  }

  drawQuestion() {
    const { question, answer } = this.approval;
    const spec = { ...answer, name: "Answer" };
    this.form = new Form([spec], {}, this.canAnswer, () => {});
    this.body.replaceChildren(el("div", { className: "question" }, prose(question)), this.form.node);
    if (!this.canAnswer) return;
    this.body.append(el("div", { className: "actions" }, this.button("primary", "Answer", () => {
      if (this.form.read() !== null) this.decide(new Raw(this.form.fields[0].read() ?? "null"));
    })));
  }

  async decide(decision) {
    this.alert.hidden = true;
    this.busy("The answer is given; the run goes on.");
    try {
      if (await this.send(this, decision)) this.busy("Kept. It is given together with your other decisions here.");
    } catch (error) {
      this.free();
      this.fail(error.message);
    }
  }

  busy(text) {
    for (const button of this.buttons) button.disabled = true;
    this.node.classList.add("busy");
    this.waiting?.remove();
    this.waiting = el("p", { className: "going" }, el("span", { className: "spinner" }), text);
    this.node.append(this.waiting);
  }

  /** Take no click for a moment: the second of a double click is for what was here before. */
  rest() {
    for (const button of this.buttons) button.disabled = true;
    setTimeout(() => {
      if (!this.node.classList.contains("busy")) this.free();
    }, REST_MS);
  }

  free() {
    for (const button of this.buttons) button.disabled = false;
    this.node.classList.remove("busy", "foreign");
    this.waiting?.remove();
  }

  fail(text) {
    this.alert.textContent = visible(text);
    this.alert.hidden = false;
  }
}

/** Make a text area as high as its text. */
export function grow(area) {
  if (area.tagName !== "TEXTAREA") return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 420)}px`;
}
