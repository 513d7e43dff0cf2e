// The map: pieces as the server drew them, and over them what may be clicked and what supports a combat.
import {byId, drawn, given} from "./elements.js";

const parts = new Map(); // drawings by number
const view = byId("view");
const RING = 20, REACH = 30;
const FINGER = 24, NEAR = 22; // CSS pixels: the square around a target that is its own on any screen (WCAG 2.2, 2.5.8), and how far off the nearest one is still meant
let targets = []; // marks and their choices
let finger = null; // where it came down: a browser moves the click to what it believes was meant

export function learn(position) {
  for (const [number, part] of Object.entries(position.new)) parts.set(Number(number), part);
}

export function draw(position, before) {
  const known = new Set(before ? before.pieces : position.pieces);
  const fresh = (number) => !known.has(number);
  byId("pieces").innerHTML = position.pieces.map((n) => (fresh(n) ? `<g class="fresh">${parts.get(n)}</g>` : parts.get(n))).join("");
  byId("head").innerHTML = position.head; // drawn and worded by the server: names of persons are never in it
  byId("panel").innerHTML = position.panel;
  follow();
}

// A large map shows what has just changed or, while one may choose, who acts: he is drawn last.
export function follow() {
  const figure = [...view.querySelectorAll(".figure")].at(-1), piece = targets.length ? figure : view.querySelector(".fresh") ?? figure;
  if (!piece || !view.classList.contains("large")) return;
  const {x, y} = middle(piece), here = middle(view);
  view.scrollLeft += x - here.x;
  view.scrollTop += y - here.y;
}

function middle(element) {
  const {left, right, top, bottom} = element.getBoundingClientRect();
  return {x: (left + right) / 2, y: (top + bottom) / 2};
}

view.addEventListener("pointerdown", (event) => { finger = event; });

export function zoom() {
  byId("zoom").setAttribute("aria-pressed", String(view.classList.toggle("large")));
  follow();
}

// The list of choices beside the map says the same to those who do not see it, or use no mouse.
export function showTargets(choices, pick, preview) {
  const places = Map.groupBy(choices.filter((choice) => choice.place), (choice) => choice.place);
  targets = [...places].map(([place, found]) => ({mark: target(place, found, preview), found}));
  byId("targets").replaceChildren(...targets.map(({mark}) => mark));
  view.onclick = (event) => {
    const {clientX, clientY} = event.pointerType === "touch" ? finger : event, found = chosenAt(clientX, clientY);
    if (found.length) pick(found);
  };
  if (targets.length) follow();
}

// What a click there means: on a small screen the squares of neighbours overlap, and then both are offered.
export function chosenAt(x, y) {
  const near = targets.map(({mark, found}) => ({found, ...distance(mark, x, y)})).sort((one, other) => one.away - other.away);
  const touched = near.filter(({square}) => square <= FINGER / 2), meant = touched.length ? touched : near.slice(0, 1).filter(({away, reach}) => away <= reach);
  return meant.flatMap(({found}) => found);
}

function distance(mark, x, y) {
  const ring = mark.querySelector(".reach"), {x: left, y: top} = middle(ring), across = Math.abs(x - left), down = Math.abs(y - top);
  return {square: Math.max(across, down), away: Math.hypot(across, down), reach: Math.max(NEAR, ring.getBoundingClientRect().width / 2)};
}

function target(place, found, preview) {
  const [x, y] = given.spaces[place], combat = found.find((choice) => choice.combat)?.combat;
  const words = combat ? `${Math.round((100 * combat.win) / 36)}%` : found.length === 1 ? found[0].cost.replace(" IP", "") : "…";
  const mark = drawn("g", {class: `target${combat ? " combat" : ""}`, transform: `translate(${x} ${y})`, "data-place": place},
    drawn("circle", {class: "reach", r: REACH}), drawn("circle", {class: "ring", r: RING, pathLength: 360}));
  if (words) { // beside the space: its name stands below, its number and figures above
    const width = words.length > 2 ? 34 : 20;
    mark.append(drawn("rect", {class: "price", x: 13, y: -7.5, width, height: 15, rx: 7}), drawn("text", {class: "words", x: 13 + width / 2, y: 4, "font-size": 11, text: words}));
  }
  mark.append(drawn("title", {text: found.map((choice) => choice.label).join("; ")}));
  mark.addEventListener("pointerenter", () => preview(found.find((choice) => choice.combat) ?? null));
  mark.addEventListener("pointerleave", () => preview(null));
  return mark;
}

export function showChains(combat) {
  const rings = (side, spaces) => spaces.map((space) => {
    const [x, y] = given.spaces[space];
    return drawn("circle", {class: `chain ${side}`, cx: x, cy: y, r: 25});
  });
  byId("chains").replaceChildren(...(combat ? [...rings("roman", combat.roman.chain), ...rings("barbarian", combat.barbarian.chain)] : []));
}

const PIPS = {1: [[12, 12]], 2: [[7, 7], [17, 17]], 3: [[6, 6], [12, 12], [18, 18]], 4: [[7, 7], [17, 7], [7, 17], [17, 17]],
  5: [[6, 6], [18, 6], [12, 12], [6, 18], [18, 18]], 6: [[7, 6], [17, 6], [7, 12], [17, 12], [7, 18], [17, 18]]};

export function showDice(fallen, lines) {
  byId("tray").replaceChildren(...fallen.map(die));
  byId("caption").textContent = lines.join("; ");
}

function die(value) {
  return drawn("svg", {viewBox: "0 0 24 24"}, drawn("rect", {x: 1, y: 1, width: 22, height: 22, rx: 5}), ...PIPS[value].map(([cx, cy]) => drawn("circle", {cx, cy, r: 2.3})));
}
