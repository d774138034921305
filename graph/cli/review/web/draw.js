// Drawing: everything that comes from a thread becomes text, never markup.

/** An element; children are elements or text. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (name in node && name !== "list") node[name] = value;
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// What does not show, or turns the letters after it round: it could make a call look like another.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const escaped = (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`;

/** Text with what does not show written out. */
export const visible = (text) => String(text).replace(HIDDEN, escaped);

export const hides = (text) => String(text).search(HIDDEN) >= 0;

/** Text as nodes; what does not show is marked. */
export function prose(text) {
  const nodes = [];
  let last = 0;
  for (const found of String(text).matchAll(HIDDEN)) {
    nodes.push(String(text).slice(last, found.index), el("mark", { className: "odd", title: "Does not show by itself" }, escaped(found[0])));
    last = found.index + found[0].length;
  }
  nodes.push(String(text).slice(last));
  return nodes;
}

const STEPS = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [Infinity, "d", 86400]];

/** How long ago something was, like "5 min". */
export function age(iso) {
  if (!iso) return "";
  const seconds = Math.max(0, (Date.now() - new Date(iso).getTime()) / 1000);
  const [, unit, size] = STEPS.find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / size)} ${unit}`;
}
