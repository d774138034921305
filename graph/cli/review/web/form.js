// The form of a call: one field for each argument, as its JSON schema says.
//
// Values are JSON texts from end to end: a number that is too long for a browser stays exact.
import { el, hides, visible } from "./draw.js";

/** A JSON text that is sent as it is. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** JSON of plain data with raw texts in it. */
export function stringify(value) {
  if (value instanceof Raw) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${pairs.map(([k, v]) => `${JSON.stringify(k)}:${stringify(v)}`).join()}}`;
}

let made = 0;
const NULL = "null";
const HINTS = { json: "JSON", boolean: "yes or no", integer: "whole number", number: "number" };
const label = (text) => visible(isText(text) ? JSON.parse(text) : text);
const isText = (text) => text.startsWith('"');

/** A field; `read()` gives a JSON text, null for an argument that is left out, or throws. */
class Field {
  constructor(spec, given, editable, changed) {
    this.spec = spec;
    this.original = given ?? null;
    this.picks = spec.kind === "choice" || spec.kind === "boolean";
    const id = `field-${(made += 1)}`;
    this.input = this.picks ? this.select(id) : this.entry(id);
    this.restore();
    if (!editable && this.picks) this.input.disabled = true;
    else if (!editable) this.input.readOnly = true;
    this.note = el("p", { className: "note", hidden: true });
    this.problem = el("p", { className: "problem", id: `${id}-problem`, hidden: true, role: "alert" });
    this.input.setAttribute("aria-describedby", this.problem.id);
    this.undo = el("button", { type: "button", className: "undo", hidden: true }, "Undo");
    this.undo.addEventListener("click", () => { this.restore(); this.tell(); changed(); this.input.focus(); });
    this.input.addEventListener("input", () => { this.problem.hidden = true; this.tell(); changed(); });
    this.node = el("div", { className: `field ${spec.kind}` },
      el("div", { className: "label" },
        el("label", { htmlFor: id }, visible(spec.name)),
        editable && !spec.required ? el("span", { className: "mark" }, "optional") : null,
        HINTS[spec.kind] ? el("span", { className: "mark" }, HINTS[spec.kind]) : null,
        this.undo),
      this.input,
      spec.hint ? el("p", { className: "hint" }, visible(spec.hint)) : null,
      this.note, this.problem);
    this.tell();
  }

  select(id) {
    const { kind, choices, required, nullable } = this.spec;
    this.values = kind === "boolean" ? ["true", "false"] : [...choices];
    if (this.original !== null && this.original !== NULL && !this.values.includes(this.original)) this.values.push(this.original);
    const names = kind === "boolean" ? { true: "yes", false: "no" } : {};
    const options = this.values.map((text) => el("option", { value: text }, names[text] ?? label(text)));
    if (!required || nullable || this.original === null) options.unshift(el("option", { value: "" }, nullable ? "none" : "not given"));
    return el("select", { id }, options);
  }

  entry(id) {
    if (this.spec.kind === "integer" || this.spec.kind === "number") return el("input", { id, inputMode: "decimal", autocomplete: "off", spellcheck: false });
    return el("textarea", { id, rows: 1, autocomplete: "off", spellcheck: this.spec.kind === "text" });
  }

  restore() {
    const { kind, default: fallback } = this.spec;
    const text = this.original;
    const empty = text === null || text === NULL;
    if (this.picks) this.input.value = empty ? "" : text;
    else this.input.value = empty ? "" : kind === "text" && isText(text) ? JSON.parse(text) : text;
    if (!this.picks) this.input.placeholder = text === NULL ? "none" : text !== null || this.spec.required ? "" : fallback !== null ? `not given; the tool takes ${label(fallback)}` : "not given";
    this.first = this.input.value;
  }

  get changed() {
    return this.input.value !== this.first;
  }

  read() {
    if (!this.changed && (this.original !== null || !this.spec.required)) return this.original;
    const raw = this.input.value;
    const { kind, required, nullable } = this.spec;
    if (this.picks && raw !== "") return raw;
    if (kind === "text" && (raw !== "" || (this.original !== null && isText(this.original) && !nullable))) return JSON.stringify(raw);
    if (!this.picks && kind !== "text" && raw.trim() !== "") return kind === "json" ? json(raw) : number(raw.trim(), kind);
    if (nullable) return NULL;
    if (!required) return null;
    throw new Error("This is needed.");
  }

  tell() {
    this.node.classList.toggle("changed", this.changed);
    this.undo.hidden = !this.changed;
    const odd = !this.picks && hides(this.input.value);
    this.note.hidden = !odd;
    this.note.textContent = odd ? `Has characters that do not show: ${visible(this.input.value)}` : "";
  }

  fail(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
    this.input.focus();
  }
}

function json(text) {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new Error("This is no valid JSON.");
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const WHOLE = /^-?(0|[1-9]\d*)$/;

function number(text, kind) {
  if (kind === "integer" && !WHOLE.test(text)) throw new Error("Give a whole number, like 3.");
  if (!NUMBER.test(text)) throw new Error("Give a number, like 0.5.");
  return text;
}

/** All fields of a call; `read()` gives the arguments, or null after it has said what is wrong. */
export class Form {
  constructor(specs, args, editable, changed) {
    this.fields = specs.map((spec) => new Field(spec, Object.hasOwn(args, spec.name) ? args[spec.name] : null, editable, changed));
    this.node = el("div", { className: "fields" }, this.fields.length ? this.fields.map((field) => field.node) : el("p", { className: "hint" }, "This call has no arguments."));
  }

  get changed() {
    return this.fields.some((field) => field.changed);
  }

  read() {
    const pairs = [];
    for (const field of this.fields) {
      try {
        const text = field.read();
        if (text !== null) pairs.push(`${JSON.stringify(field.spec.name)}:${text}`);
      } catch (error) {
        field.fail(error.message);
        return null;
      }
    }
    return new Raw(`{${pairs.join()}}`);
  }
}

/** Fields for arguments of which nothing else is known. */
export const plainFields = (args) => Object.entries(args).map(([name, text]) => ({ name, kind: isText(text) ? "text" : "json", hint: "", required: true, nullable: false, choices: [], default: null }));
