// The game log: a list for each turn with an entry for each action, as on the replay page.
import {byId, capitalize, element, pageData} from "./dom.js";

const log = byId("log");
let entries = [], turns = []; // the buttons, and the turn of each
let current = null;
let annotations = {marks: [], turns: {}}; // the analysis of each action and of each turn

export function restart(logEntries, goTo) {
  log.replaceChildren();
  entries = [];
  turns = [];
  current = null;
  for (const entry of logEntries) addEntry(entry, entry.lines, goTo);
}

export function addEntry({turn, turn_emperor, emperor}, lines, goTo) {
  if (turns.at(-1) !== turn) {
    const heading = element("h2", {text: `Turn ${turn}, ${capitalize(turn_emperor)}`});
    const section = element("div", {"data-turn": turn}, heading, element("ol"));
    annotateTurn(section);
    log.append(section);
  }
  const position = entries.length;
  const badge = element("span", {class: `badge ${emperor ?? ""}`, "aria-hidden": "true", text: emperor ? pageData.letters[emperor] : "·"});
  const button = element("button", {tabindex: -1, onclick: () => goTo(position)}, badge, element("span"));
  entries.push(button);
  turns.push(turn);
  addLines(position, lines);
  log.lastElementChild.lastElementChild.append(element("li", {}, button));
  annotateEntry(position);
}

export function addLines(position, lines) {
  const content = entries[position].lastElementChild;
  for (const text of lines) content.append(element("span", {class: content.childElementCount ? "event more" : "event", text}));
}

export function annotate(marks, turnTexts) {
  annotations = {marks, turns: turnTexts};
  entries.forEach((_, position) => annotateEntry(position));
  for (const section of log.children) annotateTurn(section);
}

function annotateEntry(position) {
  const content = entries[position].lastElementChild, text = annotations.marks[position];
  content.querySelector(".mistake")?.remove();
  if (text) content.append(element("span", {class: "mistake", text}));
}

function annotateTurn(section) {
  const text = annotations.turns[section.dataset.turn];
  section.querySelector(".luck")?.remove();
  if (text) section.firstElementChild.after(element("p", {class: "luck", text}));
}

export function truncate(length) {
  for (const entry of entries.splice(length)) entry.parentElement.remove();
  turns.length = Math.min(turns.length, length);
  for (const list of log.querySelectorAll("ol:empty")) list.parentElement.remove();
}

export const count = () => entries.length;
export const turnOf = (position) => turns[position];

export function setCurrent(position) {
  current?.removeAttribute("aria-current");
  current = entries[position] ?? null;
  current?.setAttribute("aria-current", "step");
  scrollToCurrent();
}

function scrollToCurrent() {
  if (!current) return;
  const headingHeight = log.querySelector("h2").offsetHeight, centered = current.offsetTop - (log.clientHeight - current.offsetHeight) / 2;
  log.scrollTop = Math.min(centered, current.offsetTop - headingHeight); // the first line stays visible
}

new ResizeObserver(scrollToCurrent).observe(log); // sections above the log appear and disappear

export function announce(lines) {
  byId("live").textContent = lines.join("; ");
}
