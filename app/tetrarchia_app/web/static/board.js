// The map: pieces drawn by the server, and over them the targets that can be clicked and the chains that support a combat.
import {byId, pageData, svgElement} from "./dom.js";

const drawings = new Map(); // SVG by number
const viewport = byId("view");
const RING_RADIUS = 20, HIT_RADIUS = 30;
// CSS pixels: the square around a target that always belongs to it (WCAG 2.2, 2.5.8), and the largest distance at which the nearest target is meant.
const TARGET_SIZE = 24, NEAREST_REACH = 22;
let targets = []; // {mark, choices}
let pointerDown = null; // for touch: browsers move the click event to the element they consider meant

export function addDrawings(view) {
  for (const [number, svg] of Object.entries(view.drawings)) drawings.set(Number(number), svg);
}

export function draw(view, previous) {
  const before = new Set((previous ?? view).pieces);
  const svg = (number) => (before.has(number) ? drawings.get(number) : `<g class="fresh">${drawings.get(number)}</g>`);
  byId("pieces").innerHTML = view.pieces.map(svg).join("");
  byId("head").innerHTML = view.head; // rendered by the server; contains no text written by players
  byId("panel").innerHTML = view.panel;
  scrollToAction();
}

// Scroll an enlarged map to what has changed or, while the player chooses, to the acting figure, which is drawn last.
export function scrollToAction() {
  const figure = [...viewport.querySelectorAll(".figure:not(.remembered)")].at(-1);
  const piece = targets.length ? figure : viewport.querySelector(".fresh") ?? figure;
  if (!piece || !viewport.classList.contains("large")) return;
  const {x, y} = center(piece), shown = center(viewport);
  viewport.scrollLeft += x - shown.x;
  viewport.scrollTop += y - shown.y;
}

function center(node) {
  const {left, right, top, bottom} = node.getBoundingClientRect();
  return {x: (left + right) / 2, y: (top + bottom) / 2};
}

viewport.addEventListener("pointerdown", (event) => { pointerDown = event; });

export function toggleZoom() {
  byId("zoom").setAttribute("aria-pressed", String(viewport.classList.toggle("large")));
  scrollToAction();
}

// The list of choices next to the map offers the same without a mouse.
export function showTargets(choices, pick, preview) {
  const places = Map.groupBy(choices.filter(({place}) => place), ({place}) => place);
  targets = [...places].map(([place, found]) => ({mark: targetMark(place, found, preview), choices: found}));
  byId("targets").replaceChildren(...targets.map(({mark}) => mark));
  viewport.onclick = (event) => {
    const {clientX, clientY} = event.pointerType === "touch" ? pointerDown : event, found = choicesAt(clientX, clientY);
    if (found.length) pick(found, event);
  };
  if (targets.length) scrollToAction();
}

// Return the choices meant by a click; on a small screen the squares of neighbors overlap, and both are offered.
export function choicesAt(x, y) {
  const byDistance = targets.map((target) => ({...target, ...distances(target.mark, x, y)})).sort((a, b) => a.radial - b.radial);
  const inSquare = byDistance.filter(({square}) => square <= TARGET_SIZE / 2);
  const meant = inSquare.length ? inSquare : byDistance.slice(0, 1).filter(({radial, reach}) => radial <= reach);
  return meant.flatMap(({choices}) => choices);
}

function distances(mark, x, y) {
  const hitArea = mark.querySelector(".hit-area"), {x: centerX, y: centerY} = center(hitArea);
  const dx = Math.abs(x - centerX), dy = Math.abs(y - centerY);
  return {square: Math.max(dx, dy), radial: Math.hypot(dx, dy), reach: Math.max(NEAREST_REACH, hitArea.getBoundingClientRect().width / 2)};
}

function targetMark(place, choices, preview) {
  const [x, y] = pageData.spaces[place], combat = choices.find((choice) => choice.combat)?.combat;
  const text = combat ? `${Math.round((100 * combat.win) / 36)}%` : choices.length === 1 ? choices[0].cost.replace(" IP", "") : "…";
  const mark = svgElement("g", {class: `target${combat ? " combat" : ""}`, transform: `translate(${x} ${y})`, "data-place": place},
    svgElement("circle", {class: "hit-area", r: HIT_RADIUS}), svgElement("circle", {class: "ring", r: RING_RADIUS, pathLength: 360}));
  if (text) { // to the right: the name of the space is below, its number and figures above
    const width = text.length > 2 ? 34 : 20;
    mark.append(svgElement("rect", {class: "tag", x: 13, y: -7.5, width, height: 15, rx: 7}),
      svgElement("text", {class: "tag-text", x: 13 + width / 2, y: 4, "font-size": 11, text}));
  }
  mark.addEventListener("pointerenter", () => preview(choices.find((choice) => choice.combat) ?? null));
  mark.addEventListener("pointerleave", () => preview(null));
  return mark;
}

export function showChains(combat) {
  const rings = (side, spaces) => spaces.map((space) => {
    const [x, y] = pageData.spaces[space];
    return svgElement("circle", {class: `chain ${side}`, cx: x, cy: y, r: 25});
  });
  byId("chains").replaceChildren(...(combat ? [...rings("roman", combat.roman.chain), ...rings("barbarian", combat.barbarian.chain)] : []));
}

// Arrows from the acting figure, or from the fleet that sails, to the places of the suggested actions; a ring for actions on the own space.
export function showAdvice(actions, choices) {
  const figure = [...viewport.querySelectorAll(".figure:not(.remembered)")].at(-1)?.dataset.space;
  byId("advice").replaceChildren(...actions.flatMap(({action}, index) => {
    const place = choices.find((choice) => choice.action === action)?.place;
    const start = action.startsWith("sail ") ? action.split(" ")[1] : action.startsWith("fleet ") || action.startsWith("enter ") ? null : figure;
    return place || (start && action !== "end") ? [adviceMark(index + 1, pageData.spaces[start], pageData.spaces[place ?? start])] : [];
  }));
}

function adviceMark(rank, start, goal) {
  const mark = svgElement("g", {class: "advice", "data-rank": rank});
  let label = [goal[0] - 24, goal[1] - 24];
  if (start && start !== goal) {
    const [dx, dy] = [goal[0] - start[0], goal[1] - start[1]], length = Math.hypot(dx, dy);
    const [ux, uy] = [dx / length, dy / length];
    const tip = [goal[0] - 20 * ux, goal[1] - 20 * uy], tail = [start[0] + 18 * ux, start[1] + 18 * uy];
    const back = [tip[0] - 14 * ux, tip[1] - 14 * uy];
    mark.append(svgElement("path", {class: "shaft", d: `M${tail}L${back}`}),
      svgElement("path", {class: "head", d: `M${tip}L${[back[0] - 8 * uy, back[1] + 8 * ux]}L${[back[0] + 8 * uy, back[1] - 8 * ux]}Z`}));
    label = [(tail[0] + back[0]) / 2, (tail[1] + back[1]) / 2];
  } else mark.append(svgElement("circle", {class: "shaft", cx: goal[0], cy: goal[1], r: 27}));
  mark.append(svgElement("circle", {class: "head", cx: label[0], cy: label[1], r: 9}),
    svgElement("text", {x: label[0], y: label[1] + 4, "font-size": 12, text: rank}));
  return mark;
}

const PIPS = {1: [[12, 12]], 2: [[7, 7], [17, 17]], 3: [[6, 6], [12, 12], [18, 18]], 4: [[7, 7], [17, 7], [7, 17], [17, 17]],
  5: [[6, 6], [18, 6], [12, 12], [6, 18], [18, 18]], 6: [[7, 6], [17, 6], [7, 12], [17, 12], [7, 18], [17, 18]]};

export function showDice(dice, lines) {
  const die = (value) => svgElement("svg", {viewBox: "0 0 24 24"}, svgElement("rect", {x: 1, y: 1, width: 22, height: 22, rx: 5}),
    ...PIPS[value].map(([cx, cy]) => svgElement("circle", {cx, cy, r: 2.3})));
  byId("dice").replaceChildren(...dice.map(die));
  byId("caption").textContent = lines.join("; ");
}
