// The page of a room: dispatches messages of the server to the modules, and sends the player's actions to the server.
import {byId, capitalize, element, pageData} from "./dom.js";
import {Analysis, hideCoach, showCoach} from "./analysis.js";
import * as board from "./board.js";
import {Choices} from "./choices.js";
import {displayName, showPlayers} from "./players.js";
import {connect} from "./socket.js";
import {Timeline} from "./timeline.js";

let decision = null, room = null; // the last messages "decision" and "players"
let offeredPosition = null; // the position whose choices are shown

const HANDLERS = {
  log: ({entries}) => { timeline.start(entries); analysis.invalidate(); },
  position: (message) => timeline.onPosition(message),
  undone: (message) => { timeline.onUndone(message); analysis.invalidate(); },
  action: (message) => timeline.onAction(message),
  decision: (message) => { decision = message; timeline.isOver = message.emperor === null; refresh(true); },
  players: onPlayers,
  error: ({message}) => { showStatus(capitalize(message)); analysis.onError(); },
  coach: ({result, position}) => { if (position === timeline.last) showCoach(result, play); },
  analysis: ({result}) => { analysis.receive(result); showStatus(""); refresh(); },
  redirect: ({url}) => location.assign(url),
};

const send = connect((message) => HANDLERS[message.type]?.(message), (text) => { showStatus(text); refresh(); });
const timeline = new Timeline(send, () => refresh());
const choices = new Choices(play);
const analysis = new Analysis(() => send("analyze"), (position) => timeline.goTo(position));

function showStatus(text) {
  byId("status").textContent = text;
}

function onPlayers(message) {
  room = message;
  if (room.agents_only && !timeline.agentsOnly) timeline.setPaused(true);
  timeline.agentsOnly = room.agents_only;
  showPlayers(room, send);
  refresh();
}

function play(action) {
  showStatus("");
  hideCoach();
  send("play", {position: decision.position, action});
  choices.show([]);
}

// Choices are shown with the newest position if the decision is the player's.
function refresh(isNewDecision = false) {
  const isOwn = Boolean(decision?.choices) && timeline.isNewest && decision.position === timeline.last;
  const position = isOwn ? decision.position : null;
  if (isNewDecision || position !== offeredPosition) {
    offeredPosition = position;
    hideCoach();
    choices.show(isOwn ? decision.choices : []);
  }
  byId("decision").classList.toggle("own", isOwn);
  byId("decision-title").textContent = decisionTitle(isOwn);
  byId("undo").hidden = !(decision?.can_undo && timeline.isNewest);
  byId("coach-button").hidden = !isOwn || !pageData.coach;
  byId("analysis-button").hidden = !pageData.coach || timeline.last === 0;
  if (decision && timeline.isCaughtUp) analysis.update(decision.emperor);
  analysis.show(timeline.shown, timeline.lastLogged);
  const isPlaying = timeline.isNewest && room && !room.agents_only && room.you !== null;
  byId("take-over").hidden = !room || isPlaying || (timeline.isOver && timeline.isNewest);
  byId("save-replay").hidden = room?.has_replay === false;
  byId("save-replay").href = `${location.pathname}/replay.json`;
  byId("save-snapshot").href = `${location.pathname}/snapshot.json?position=${timeline.shown}`;
}

function decisionTitle(isOwn) {
  if (!decision) return "Connecting…";
  if (!timeline.isNewest) return timeline.shown < timeline.lastLogged ? "Earlier position" : "Showing events…";
  if (decision.emperor === null) return "The game is over";
  const emperor = capitalize(decision.emperor);
  if (isOwn) return `${emperor}: choose an action`;
  if (room?.agents_only) return timeline.paused ? `${emperor} is next: press play or next action` : `${emperor} decides`;
  const number = room?.players.findIndex((player) => player.emperors.includes(decision.emperor)) ?? -1;
  if (number < 0) return `${emperor} decides`;
  return `${emperor} decides: ${decision.agent ? `agent ${decision.agent}` : displayName(room.players[number], number)}`;
}

function openTakeOverCard() {
  const boxes = pageData.emperors.map((name) => element("label", {class: "check"}, element("input", {type: "checkbox", value: name}), element("span", {text: capitalize(name)})));
  const card = byId("card");
  const options = pageData.agents.map(({name}) => element("option", {value: name, text: `agent ${name}`}));
  const agent = element("select", {}, element("option", {value: "", text: "their current agents"}), ...options);
  const confirm = element("button", {class: "confirm", text: "Start", onclick: () => {
    const emperors = [...card.querySelectorAll("input:checked")].map((box) => box.value);
    if (emperors.length) send("take_over", {position: timeline.shown, emperors, agent: agent.value || null});
  }});
  const cancel = element("button", {text: "Cancel", onclick: () => choices.closeCard(true)});
  card.replaceChildren(
    element("p", {text: "Choose your Emperors. A new room continues from the position shown; this room does not change."}), ...boxes,
    element("label", {}, "Other Emperors: ", agent), element("div", {class: "tools"}, confirm, cancel));
  card.hidden = false;
  boxes[0].querySelector("input").focus();
}

const BUTTONS = {
  first: () => timeline.goTo(0),
  "previous-turn": () => timeline.changeTurn(-1),
  previous: () => timeline.goTo(timeline.shown - 1),
  play: () => timeline.togglePlay(),
  next: () => timeline.next(),
  "next-turn": () => timeline.changeTurn(1),
  last: () => timeline.goToNewest(),
  zoom: board.toggleZoom,
  undo: () => send("undo", {position: decision.position}),
  "coach-button": () => send("coach", {position: decision.position}),
  "analysis-button": () => {
    analysis.toggle(decision.emperor);
    showStatus(analysis.isOn ? "Analyzing the game…" : "");
    refresh();
  },
  "take-over": openTakeOverCard,
};
const KEYS = {
  Home: BUTTONS.first, PageUp: BUTTONS["previous-turn"], ArrowLeft: BUTTONS.previous, " ": BUTTONS.play,
  ArrowRight: BUTTONS.next, PageDown: BUTTONS["next-turn"], End: BUTTONS.last,
  ArrowUp: () => choices.moveFocus(-1), ArrowDown: () => choices.moveFocus(1), Escape: () => choices.closeCard(true),
};
const CHARACTER_KEYS = {
  ".": BUTTONS.last,
  u: () => byId("undo").hidden || BUTTONS.undo(),
  h: () => byId("coach-button").hidden || BUTTONS["coach-button"](),
};

function onKey(event) {
  const {key, target} = event;
  if (event.altKey || event.ctrlKey || event.metaKey || target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
  if (key === " " && target.closest("button, summary, a, input")) return;
  if (target.type === "range" && key.startsWith("Arrow")) return;
  if (key in KEYS) KEYS[key]();
  else if (!byId("character-keys").checked || key.length > 1) return;
  else if (key.toLowerCase() in CHARACTER_KEYS) CHARACTER_KEYS[key.toLowerCase()]();
  else if (!choices.onKey(key.toLowerCase())) return;
  event.preventDefault();
}

function restorePace() {
  const requested = new URLSearchParams(location.search).get("pace"), pace = requested ?? localStorage.getItem("pace"); // --speed of `watch`
  if (requested) byId("pace").append(element("option", {value: requested, text: `${requested} ms`}));
  if (pace !== null) byId("pace").value = pace;
  byId("pace").addEventListener("change", () => localStorage.setItem("pace", byId("pace").value));
}

for (const [id, onClick] of Object.entries(BUTTONS)) byId(id).addEventListener("click", onClick);
byId("slider").addEventListener("input", () => timeline.goTo(Number(byId("slider").value)));
addEventListener("keydown", onKey);
addEventListener("resize", board.scrollToAction);
restorePace();
timeline.setPaused(false);
