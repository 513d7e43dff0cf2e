// A room's page: messages of the server go to the parts of the page, and what the person does goes to the server.
import {byId, capital, given, made} from "./elements.js";
import * as board from "./board.js";
import {Choices} from "./choices.js";
import {nameOf, showPeople} from "./people.js";
import {talk} from "./talk.js";
import {Analysis, hideCoach, showCoach} from "./thoughts.js";
import {Timeline} from "./timeline.js";

let decision = null, people = null, offeredFor = "";

const OBEYED = {
  log: ({entries}) => { timeline.begin(entries); analysis.doubt(); },
  position: ({number, view}) => timeline.position(number, view),
  undone: ({number, view}) => { timeline.undone(number, view); analysis.doubt(); },
  move: (told) => timeline.moved(told),
  decision: (told) => { decision = told; timeline.isOver = told.agent === null; refresh(true); },
  people: (told) => { people = told; beginAlone(told.alone); showPeople(told, send); refresh(); },
  refused: ({sentence}) => { state(capital(sentence)); analysis.refused(); },
  coach: ({answer, number}) => { if (number === timeline.last) showCoach(answer, choices.offered, play); },
  analysis: ({answer}) => { analysis.take(answer); state(""); refresh(); },
  go: ({address}) => location.assign(address),
};

const send = talk((message) => OBEYED[message.type]?.(message), (sentence) => { state(sentence); refresh(); });
const timeline = new Timeline(send, () => refresh());
const choices = new Choices(play);
const analysis = new Analysis(() => send("analyse"), (number) => timeline.go(number));

function state(sentence) {
  byId("state").textContent = sentence;
}

function beginAlone(alone) {
  if (alone && !timeline.alone) timeline.pause(true);
  timeline.alone = alone;
}

function play(action) {
  state("");
  hideCoach();
  send("play", {number: decision.number, action});
  choices.show([]);
}

// Choices are there when the newest position is shown and the decision is ours.
function refresh(isNew = false) {
  const mine = Boolean(decision?.choices) && timeline.isNow && decision.number === timeline.last;
  const key = mine ? String(decision.number) : "";
  if (isNew || key !== offeredFor) {
    offeredFor = key;
    hideCoach();
    choices.show(mine ? decision.choices : []);
  }
  byId("decide").classList.toggle("mine", mine);
  byId("decide-title").textContent = title(mine);
  byId("undo").hidden = !(decision?.mayUndo && timeline.isNow);
  byId("ask-coach").hidden = !mine || !given.coach;
  byId("ask-analysis").hidden = !given.coach || timeline.last === 0;
  if (decision && timeline.isTold) analysis.follow(decision.agent);
  analysis.show(timeline.shown, timeline.ends);
  byId("take-over").hidden = !people || (timeline.isNow && !people.alone && people.you !== null) || (timeline.isOver && timeline.isNow);
  const link = location.pathname;
  byId("save-replay").hidden = people?.hasReplay === false;
  byId("save-replay").href = `${link}/replay.json`;
  byId("save-snapshot").href = `${link}/snapshot.json?number=${timeline.shown}`;
}

function title(mine) {
  if (!decision) return "Coming in…";
  if (!timeline.isNow && timeline.shown < timeline.ends) return "You look at the past";
  if (!timeline.isNow) return "It goes on…";
  if (decision.agent === null) return "The game is over";
  const who = capital(decision.agent);
  if (mine) return `${who}: what will you do?`;
  if (people?.alone) return timeline.paused ? `${who} is next: press play, or one action on` : `${who} decides`;
  const number = people?.players.findIndex((player) => player.emperors.includes(decision.agent)) ?? -1;
  return number < 0 ? `${who} decides` : `${who} decides: ${decision.asked ? `agent ${decision.asked}` : nameOf(people.players[number], number)}`;
}

function takeOver() {
  const boxes = given.emperors.map((name) => made("label", {class: "check"}, made("input", {type: "checkbox", value: name}), made("span", {text: capital(name)})));
  const card = byId("card");
  const agents = given.agents.map(({name}) => made("option", {value: name, text: `agent ${name}`}));
  const others = made("select", {id: "others"}, made("option", {value: "", text: "those who play them now"}), ...agents);
  const begin = made("button", {class: "do", text: "Play on", onclick: () => {
    const emperors = [...card.querySelectorAll("input:checked")].map((box) => box.value);
    if (emperors.length) send("take over", {number: timeline.shown, emperors, agent: others.value || null});
  }});
  card.replaceChildren(made("p", {text: "Whom will you play? A new room goes on from the position shown; this one stays."}), ...boxes,
    made("label", {class: "others"}, "The others: ", others), made("div", {class: "tools"}, begin, made("button", {text: "Not now", onclick: () => choices.close(true)})));
  card.hidden = false;
  boxes[0].querySelector("input").focus();
}

const BUTTONS = {
  first: () => timeline.go(0),
  "turn-back": () => timeline.turn(-1),
  back: () => timeline.go(timeline.shown - 1),
  play: () => timeline.toggle(),
  on: () => timeline.on(),
  "turn-on": () => timeline.turn(1),
  last: () => timeline.now(),
  zoom: board.zoom,
  undo: () => send("undo", {number: decision.number}),
  "ask-coach": () => send("coach", {number: decision.number}),
  "ask-analysis": () => {
    analysis.toggle(decision.agent);
    state(analysis.isWanted ? "The agent thinks about the whole game…" : "");
    refresh();
  },
  "take-over": takeOver,
};
const KEYS = {
  Home: BUTTONS.first, PageUp: BUTTONS["turn-back"], ArrowLeft: BUTTONS.back, " ": BUTTONS.play, ArrowRight: BUTTONS.on, PageDown: BUTTONS["turn-on"], End: BUTTONS.last,
  ArrowUp: () => choices.walk(-1), ArrowDown: () => choices.walk(1), Escape: () => choices.close(true),
};
const LETTERS = {".": BUTTONS.last, u: () => byId("undo").hidden || BUTTONS.undo(), h: () => byId("ask-coach").hidden || BUTTONS["ask-coach"]()};

function onKey(event) {
  const {key, target} = event;
  if (event.altKey || event.ctrlKey || event.metaKey || target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
  if (key === " " && target.closest("button, summary, a, input")) return;
  if (target.type === "range" && key.startsWith("Arrow")) return;
  if (key in KEYS) KEYS[key]();
  else if (!byId("letters").checked || key.length > 1) return;
  else if (key.toLowerCase() in LETTERS) LETTERS[key.toLowerCase()]();
  else if (!choices.key(key.toLowerCase())) return;
  event.preventDefault();
}

function keep(id) {
  const kept = localStorage.getItem(id);
  if (kept !== null) byId(id).value = kept;
  byId(id).addEventListener("change", () => localStorage.setItem(id, byId(id).value));
}

for (const [id, deed] of Object.entries(BUTTONS)) byId(id).addEventListener("click", deed);
byId("slider").addEventListener("input", () => timeline.go(Number(byId("slider").value)));
addEventListener("keydown", onKey);
addEventListener("resize", board.follow);
keep("pace");
timeline.pause(false);
