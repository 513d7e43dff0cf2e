// Small helpers that every module uses; words from others only ever become text, never HTML.
export const byId = (id) => document.getElementById(id);
export const given = JSON.parse(byId("data").textContent);
export const capital = (name) => name[0].toUpperCase() + name.slice(1);
export const percent = (share) => `${Math.round(100 * share)} %`;

const SVG = "http://www.w3.org/2000/svg";

export function made(tag, values = {}, ...children) {
  return filled(document.createElement(tag), values, children);
}

export function drawn(tag, values = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), values, children);
}

function filled(element, values, children) {
  for (const [name, value] of Object.entries(values)) {
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}
