// DOM helpers of all modules. Text written by other players is only ever inserted as text, never as HTML.
export const byId = (id) => document.getElementById(id);
export const pageData = JSON.parse(byId("data").textContent);
export const capitalize = (text) => text[0].toUpperCase() + text.slice(1);
export const percent = (fraction) => `${Math.round(100 * fraction)} %`;

const SVG = "http://www.w3.org/2000/svg";

// Attributes: `text` sets the text, `onclick` and the like add a listener, true and false switch an attribute on and off.
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}
