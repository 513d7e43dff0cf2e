"use strict";
// A frame lists, for each element of the page, the numbers of the HTML parts it consists of; all parts are rendered in advance.
const byId = (id) => document.getElementById(id);
const {parts, frames, turns, views = {}} = JSON.parse(byId("game").textContent); // views: the frames as Emperors see them
const entries = [...document.querySelectorAll("#log button")]; // one per frame
const slider = byId("slider"), speed = byId("speed"), log = byId("log"), live = byId("live"), viewport = byId("view");
const curve = byId("curve"), cursor = byId("cursor"); // only on a page with an analysis
const viewMenu = byId("views"); // only on a page of a game with local information
const last = frames.length - 1;
const HASH_DELAY_MS = 250; // browsers limit how often the URL may change
let current = 0, playTimer = 0, hashTimer = 0;

function show(number) {
  entries[current].removeAttribute("aria-current");
  entries[current].tabIndex = -1;
  current = Math.min(Math.max(number, 0), last);
  draw();
  slider.value = current;
  slider.setAttribute("aria-valuetext", `action ${current} of ${last}`);
  byId("count").textContent = `${current} / ${last}`;
  cursor?.setAttribute("transform", `translate(${current})`);
  entries[current].setAttribute("aria-current", "step");
  entries[current].tabIndex = 0;
  live.textContent = [...entries[current].querySelectorAll(".event")].map((line) => line.textContent).join("; ");
  scrollToCurrent();
  clearTimeout(hashTimer);
  hashTimer = setTimeout(() => history.replaceState(null, "", `#${current}`), HASH_DELAY_MS);
}

function draw() {
  const shown = views[viewMenu?.value] ?? frames;
  const before = new Set(shown[Math.max(current - 1, 0)].pieces);
  for (const [id, numbers] of Object.entries(shown[current])) {
    const isFresh = (number) => id === "pieces" && !before.has(number);
    byId(id).innerHTML = numbers.map((number) => (isFresh(number) ? `<g class="fresh">${parts[number]}</g>` : parts[number])).join("");
  }
}

function scrollToCurrent() {
  const entry = entries[current], headingHeight = log.querySelector("h2").offsetHeight;
  const centered = entry.offsetTop - (log.clientHeight - entry.offsetHeight) / 2;
  log.scrollTop = Math.min(centered, entry.offsetTop - headingHeight); // the first line stays visible
  const piece = viewport.querySelector(".fresh, .figure");
  if (!piece) return;
  const {left, right, top, bottom} = piece.getBoundingClientRect(), shown = viewport.getBoundingClientRect();
  viewport.scrollLeft += (left + right) / 2 - (shown.left + shown.right) / 2;
  viewport.scrollTop += (top + bottom) / 2 - (shown.top + shown.bottom) / 2;
}

function toggleZoom() {
  byId("zoom").setAttribute("aria-pressed", String(viewport.classList.toggle("large")));
  scrollToCurrent();
}

function goTo(number) {
  pause();
  show(number);
}

const nextTurn = () => goTo(turns.find((start) => start > current) ?? last);
const previousTurn = () => goTo(turns.findLast((start) => start < current) ?? 0);

function play() {
  document.body.classList.add("playing");
  byId("play").setAttribute("aria-label", "Pause");
  live.setAttribute("aria-live", "off"); // a screen reader could not keep up
  if (current === last) show(0);
  scheduleNext();
}

function scheduleNext() {
  clearTimeout(playTimer);
  playTimer = setTimeout(() => {
    show(current + 1);
    if (current === last) pause();
    else scheduleNext();
  }, 1000 / Number(speed.value));
}

function pause() {
  clearTimeout(playTimer);
  playTimer = 0;
  document.body.classList.remove("playing");
  byId("play").setAttribute("aria-label", "Play");
  live.setAttribute("aria-live", "polite");
}

const togglePlay = () => (playTimer ? pause() : play());

const BUTTONS = {
  first: () => goTo(0),
  "previous-turn": previousTurn,
  previous: () => goTo(current - 1),
  play: togglePlay,
  next: () => goTo(current + 1),
  "next-turn": nextTurn,
  last: () => goTo(last),
  zoom: toggleZoom,
};
const KEYS = {
  Home: BUTTONS.first,
  PageUp: previousTurn,
  ArrowUp: previousTurn,
  ArrowLeft: BUTTONS.previous,
  " ": togglePlay,
  ArrowRight: BUTTONS.next,
  ArrowDown: nextTurn,
  PageDown: nextTurn,
  End: BUTTONS.last,
};

// Whether the browser itself uses this key here.
function isBrowserKey(event) {
  const {key, target} = event;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || target === speed || target === viewMenu) return true;
  if (key === " ") return target.closest("button, summary") !== null;
  const canScroll = document.documentElement.scrollHeight > innerHeight;
  return (key === "ArrowUp" || key === "ArrowDown") && (canScroll || target === slider);
}

function onKey(event) {
  if (!(event.key in KEYS) || isBrowserKey(event)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function onCurveClick(event) {
  const {left, width} = curve.getBoundingClientRect();
  goTo(Math.round(((event.clientX - left) / width) * last));
}

function goToHash() {
  const hash = /^#(\d+)$/.exec(location.hash);
  if (hash) goTo(Number(hash[1]));
}

for (const [id, onClick] of Object.entries(BUTTONS)) byId(id).addEventListener("click", onClick);
entries.forEach((entry, number) => entry.addEventListener("click", () => goTo(number)));
curve?.addEventListener("click", onCurveClick);
slider.addEventListener("input", () => goTo(Number(slider.value)));
viewMenu?.addEventListener("change", draw);
if (viewMenu) viewMenu.value = ""; // browsers restore the old value on reload
speed.addEventListener("change", () => playTimer && scheduleNext());
addEventListener("keydown", onKey);
addEventListener("hashchange", goToHash);
addEventListener("resize", scrollToCurrent);
document.fonts.ready.then(scrollToCurrent); // the font changes the layout
slider.value = 0; // browsers restore the old value on reload
show(0);
goToHash();
