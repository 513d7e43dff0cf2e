"use strict";
// Every position is a list of parts for each place of the page; all words and drawings were made beforehand.
const byId = (id) => document.getElementById(id);
const {parts, frames, turns} = JSON.parse(byId("game").textContent);
const entries = [...document.querySelectorAll("#log button")]; // one for each frame
const slider = byId("slider"), speed = byId("speed"), log = byId("log"), live = byId("live"), view = byId("view");
const curve = byId("curve"), here = byId("here"); // of a page with an analysis
const last = frames.length - 1;
const REST = 250; // milliseconds without a move before the address says where we are: browsers allow few changes a second
let now = 0, timer = 0, rest = 0;

function show(number) {
  entries[now].removeAttribute("aria-current");
  entries[now].tabIndex = -1;
  now = Math.min(Math.max(number, 0), last);
  draw();
  slider.value = now;
  slider.setAttribute("aria-valuetext", `action ${now} of ${last}`);
  byId("count").textContent = `${now} / ${last}`;
  here?.setAttribute("transform", `translate(${now})`);
  tell(entries[now]);
  follow();
  clearTimeout(rest);
  rest = setTimeout(() => history.replaceState(null, "", `#${now}`), REST);
}

function draw() {
  const before = new Set(frames[Math.max(now - 1, 0)].pieces);
  for (const [place, numbers] of Object.entries(frames[now])) {
    const fresh = (number) => place === "pieces" && !before.has(number);
    byId(place).innerHTML = numbers.map((n) => (fresh(n) ? `<g class="fresh">${parts[n]}</g>` : parts[n])).join("");
  }
}

function tell(entry) {
  entry.setAttribute("aria-current", "step");
  entry.tabIndex = 0;
  live.textContent = [...entry.querySelectorAll(".says")].map((line) => line.textContent).join("; ");
}

function follow() {
  const entry = entries[now], heading = log.querySelector("h2").offsetHeight;
  const middle = entry.offsetTop - (log.clientHeight - entry.offsetHeight) / 2;
  log.scrollTop = Math.min(middle, entry.offsetTop - heading); // its first line is never hidden
  const piece = view.querySelector(".fresh, .figure");
  if (piece) bringInto(view, piece.getBoundingClientRect());
}

function bringInto(frame, {left, right, top, bottom}) {
  const here = frame.getBoundingClientRect();
  frame.scrollLeft += (left + right) / 2 - (here.left + here.right) / 2;
  frame.scrollTop += (top + bottom) / 2 - (here.top + here.bottom) / 2;
}

function zoom() {
  const large = view.classList.toggle("large");
  byId("zoom").setAttribute("aria-pressed", String(large));
  follow();
}

function jump(number) {
  pause();
  show(number);
}

const turnOn = () => jump(turns.find((start) => start > now) ?? last);
const turnBack = () => jump(turns.findLast((start) => start < now) ?? 0);

function play() {
  document.body.classList.add("playing");
  byId("play").setAttribute("aria-label", "Pause");
  live.setAttribute("aria-live", "off"); // nobody can listen that fast
  if (now === last) show(0);
  wait();
}

function wait() {
  clearTimeout(timer);
  timer = setTimeout(tick, 1000 / Number(speed.value));
}

function tick() {
  show(now + 1);
  if (now === last) pause();
  else wait();
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  document.body.classList.remove("playing");
  byId("play").setAttribute("aria-label", "Play");
  live.setAttribute("aria-live", "polite");
}

const toggle = () => (timer ? pause() : play());

const BUTTONS = {
  first: () => jump(0),
  "turn-back": turnBack,
  back: () => jump(now - 1),
  play: toggle,
  on: () => jump(now + 1),
  "turn-on": turnOn,
  last: () => jump(last),
  zoom,
};
const KEYS = {
  Home: BUTTONS.first,
  PageUp: turnBack,
  ArrowUp: turnBack,
  ArrowLeft: BUTTONS.back,
  " ": toggle,
  ArrowRight: BUTTONS.on,
  ArrowDown: turnOn,
  PageDown: turnOn,
  End: BUTTONS.last,
};

function isTheBrowsers(event) {
  const {key, target} = event;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || target === speed) return true;
  if (key === " ") return target.closest("button, summary") !== null;
  const scrolls = document.documentElement.scrollHeight > innerHeight;
  return (key === "ArrowUp" || key === "ArrowDown") && (scrolls || target === slider);
}

function onKey(event) {
  if (!(event.key in KEYS) || isTheBrowsers(event)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function toThePoint(event) {
  const {left, width} = curve.getBoundingClientRect();
  jump(Math.round(((event.clientX - left) / width) * last));
}

function toTheLink() {
  const link = /^#(\d+)$/.exec(location.hash);
  if (link) jump(Number(link[1]));
}

for (const [id, deed] of Object.entries(BUTTONS)) byId(id).addEventListener("click", deed);
entries.forEach((entry, number) => entry.addEventListener("click", () => jump(number)));
curve?.addEventListener("click", toThePoint);
slider.addEventListener("input", () => jump(Number(slider.value)));
speed.addEventListener("change", () => timer && wait());
addEventListener("keydown", onKey);
addEventListener("hashchange", toTheLink);
addEventListener("resize", follow);
document.fonts.ready.then(follow); // with its own letters every line has another width
slider.value = 0; // a browser may remember another when the page is loaded again
show(0);
toTheLink();
