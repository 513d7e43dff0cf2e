// Tooltips of the map: what a space is, what is on it, and what a click does. On a touch screen, a touch without a target shows them.
import {byId, capitalize, element, pageData} from "./dom.js";

const PIECES = { // by data-kind
  unrest: "Unrest: becomes a Revolt if a Revolt is linked to it when the turn ends",
  revolt: "Revolt: costs 1 IP more to enter, spreads to linked Unrest, and drives off an Emperor who stays",
  army: "Barbarian army: marches one space per turn toward ROMA",
  goths: "The Goths: an army that adds 1 to its die",
  rebel: "Rebel: an army that stays until it is beaten",
  fleet: "Roman fleet: Emperors move along the coasts of this zone for 1 IP",
  pirates: "Pirates: no fleet may enter this zone",
  dux: "The Dux: led by the Emperor whose turn it is",
  hidden: "Out of your view",
};
const REACH = 26, TOUCH_MS = 4000; // in units of the map; how long a touched tooltip stays
const viewport = byId("view"), tooltip = byId("tooltip");
let timer = 0;

// `choicesOf` returns the player's choices at a place.
export function showTooltips(choicesOf) {
  viewport.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") show(event, choicesOf); });
  viewport.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
  viewport.addEventListener("click", (event) => {
    if (event.pointerType !== "touch") return hide();
    show(event, choicesOf);
    clearTimeout(timer);
    timer = setTimeout(hide, TOUCH_MS);
  });
}

function hide() {
  tooltip.hidden = true;
}

function show({clientX, clientY}, choicesOf) {
  const matrix = byId("pieces").getScreenCTM();
  const x = (clientX - matrix.e) / matrix.a, y = (clientY - matrix.f) / matrix.d;
  const [place, distance] = Object.entries(pageData.spaces).map(([name, [px, py]]) => [name, Math.hypot(px - x, py - y)])
    .reduce((nearest, one) => (one[1] < nearest[1] ? one : nearest));
  if (distance > REACH) return hide();
  const choices = choicesOf(place).map(({label, cost, ends_turn: endsTurn}) => `${label}${cost ? `, ${cost}` : ""}${endsTurn ? ", ends the turn" : ""}`);
  tooltip.replaceChildren(element("b", {text: place}), ...placeLines(place).map((text) => element("span", {text})),
    ...choices.map((text) => element("em", {text})));
  tooltip.hidden = false;
  const area = tooltip.parentElement.getBoundingClientRect(), box = tooltip.getBoundingClientRect();
  const left = clientX - area.left + 18, top = clientY - area.top + 18;
  tooltip.style.left = `${Math.max(4, left + box.width > area.width ? left - box.width - 36 : left)}px`;
  tooltip.style.top = `${Math.max(4, top + box.height > area.height ? top - box.height - 36 : top)}px`;
}

function placeLines(place) {
  const {about, next} = pageData.places[place];
  const pieces = [...byId("pieces").querySelectorAll(`[data-space="${place}"], [data-zone="${place}"]`)];
  return [about, ...pieces.map((piece) => pieceLine(piece, next))];
}

function pieceLine(piece, next) {
  if (piece.classList.contains("age")) return piece.dataset.kind === "0" ? "Seen in this turn" : `Seen ${piece.dataset.kind} turns ago`;
  return piece.classList.contains("remembered") ? `Seen last: ${describe(piece, next)}` : describe(piece, next);
}

function describe({dataset: {kind}, classList, textContent}, next) {
  if (pageData.emperors.includes(kind)) return classList.contains("figure") ? capitalize(kind) : `Token of ${capitalize(kind)}`;
  const goal = classList.contains("army") && kind !== "rebel" ? next?.[textContent.trim()] : null;
  return PIECES[kind] + (goal ? `; next: ${goal}` : "");
}
