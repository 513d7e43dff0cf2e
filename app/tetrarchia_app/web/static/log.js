// What happened: a list for each turn, an entry for each action, as on the replay page.
import {byId, capital, given, made} from "./elements.js";

const log = byId("log"), live = byId("live");
let entries = [], turns = []; // the buttons, and the turn of each
let current = null;
let judged = {marks: [], turns: {}}; // what an agent thinks of entries and of whole turns

export function restart(told, go) {
  log.replaceChildren();
  entries = [];
  turns = [];
  current = null;
  for (const entry of told) add(entry, entry.lines, go);
}

export function add({turn, emperor, agent}, lines, go) {
  if (turns.at(-1) !== turn) log.append(heading(turn, emperor));
  const number = entries.length;
  const badge = made("span", {class: `who ${agent ?? ""}`, "aria-hidden": "true", text: agent ? given.letters[agent] : "·"});
  const button = made("button", {tabindex: -1, onclick: () => go(number)}, badge, made("span"));
  entries.push(button);
  turns.push(turn);
  say(number, lines);
  log.lastElementChild.lastElementChild.append(made("li", {}, button));
  blame(number);
}

function heading(turn, emperor) {
  const part = made("div", {"data-turn": turn}, made("h2", {text: `Turn ${turn}, ${capital(emperor)}`}), made("ol"));
  split(part);
  return part;
}

export function say(number, lines) {
  const place = entries[number].lastElementChild;
  for (const line of lines) place.append(made("span", {class: place.childElementCount ? "says more" : "says", text: line}));
}

export function judge(marks, turns) {
  judged = {marks, turns};
  entries.forEach((_, number) => blame(number));
  for (const part of log.children) split(part);
}

function blame(number) {
  const place = entries[number].lastElementChild;
  place.querySelector(".worst")?.remove();
  if (judged.marks[number]) place.append(made("span", {class: "worst", text: judged.marks[number]}));
}

function split(part) {
  const words = judged.turns[part.dataset.turn];
  part.querySelector(".split")?.remove();
  if (words) part.firstElementChild.after(made("p", {class: "split", text: words}));
}

export function shorten(length) {
  for (const entry of entries.splice(length)) entry.parentElement.remove();
  turns.length = Math.min(turns.length, length);
  for (const list of log.querySelectorAll("ol:empty")) list.parentElement.remove();
}

export const count = () => entries.length;
export const turnOf = (number) => turns[number];

export function mark(number) {
  current?.removeAttribute("aria-current");
  current = entries[number] ?? null;
  current?.setAttribute("aria-current", "step");
  follow();
}

function follow() {
  if (!current) return;
  const heading = log.querySelector("h2").offsetHeight, middle = current.offsetTop - (log.clientHeight - current.offsetHeight) / 2;
  log.scrollTop = Math.min(middle, current.offsetTop - heading); // its first line is never hidden
}

new ResizeObserver(follow).observe(log); // what stands above it comes and goes

export function announce(lines) {
  live.textContent = lines.join("; ");
}
