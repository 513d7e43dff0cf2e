// The page of a room: dispatches messages of the server to the modules, and sends the player's actions to the server.
import {byId, capitalize, element, pageData} from "./dom.js";
import {Analysis, hideCoach, showCoach} from "./analysis.js";
import * as board from "./board.js";
import {Choices} from "./choices.js";
import {Guide} from "./guide.js";
import {announceTurn, displayName, showPlayers} from "./players.js";
import {connect} from "./socket.js";
import {Timeline} from "./timeline.js";
import {showTooltips} from "./tooltip.js";

let decision = null, room = null; // the last messages "decision" and "players"
let offered = ""; // the choices shown, with their position, as JSON
let isPlayPending = false, isCoachPending = false; // until the server answers

const HANDLERS = {
  log: ({entries}) => { timeline.start(entries); analysis.invalidate(); },
  position: (message) => timeline.onPosition(message),
  undone: (message) => { timeline.onUndone(message); analysis.invalidate(); },
  action: (message) => timeline.onAction(message),
  decision: onDecision,
  players: onPlayers,
  error: onError,
  coach: ({result, position}) => {
    isCoachPending = false;
    if (position === timeline.last) showCoach(result, choices);
  },
  analysis: ({result}) => { analysis.receive(result, room); showStatus(""); refresh(); },
  redirect: ({url}) => location.assign(url),
  next_room: ({url}) => { byId("join-next").href = url; byId("join-next").hidden = false; },
};

const {send, isOpen} = connect((message) => HANDLERS[message.type]?.(message), (text) => { showStatus(text); refresh(); });
const timeline = new Timeline(send, () => refresh());
const choices = new Choices(play);
const guide = new Guide();
const analysis = new Analysis(() => send("analyze"), (position) => timeline.goTo(position),
  (position) => send("take_over", {position, emperors: room.players[room.you].emperors}));

function showStatus(text) {
  byId("status").textContent = text;
}

function onPlayers(message) {
  room = message;
  if (room.agents_only && !timeline.agentsOnly) timeline.setPaused(true);
  timeline.agentsOnly = room.agents_only;
  showPlayers(room, send);
  for (const item of document.querySelectorAll("#legend [data-needs]")) item.hidden = !room.in_play.includes(item.dataset.needs);
  refresh();
}

function onDecision(message) {
  decision = message;
  isPlayPending = false;
  timeline.setOver(message.emperor === null);
  refresh();
}

function onError({message}) {
  isCoachPending = false;
  showStatus(capitalize(message));
  analysis.onError();
}

function play(action) {
  if (!isOpen()) return; // the choices stay; the status explains why
  showStatus("");
  hideCoach();
  send("play", {position: decision.position, action});
  isPlayPending = true; // after a refused action, the server repeats the decision
  offered = "";
  choices.show([], null);
}

// Choices are shown with the newest position if the decision is the player's. They stay as they are, with an open card or advice, while
// nothing about them changes, e.g. when another player joins or after a lost connection.
function refresh() {
  const isOwn = Boolean(decision?.choices) && timeline.isNewest && decision.position === timeline.last;
  const wanted = isOwn ? JSON.stringify([decision.position, decision.choices]) : "";
  if (wanted !== offered && !isPlayPending) {
    offered = wanted;
    isCoachPending = false;
    hideCoach();
    choices.show(isOwn ? decision.choices : [], isOwn && decision.phase === "roman" ? decision.ip : null);
  }
  const title = decisionTitle(isOwn), isEnd = timeline.isOver && timeline.isNewest;
  byId("decision").classList.toggle("own", isOwn);
  byId("decision-title").textContent = title;
  announceTurn(isOwn, title, `${decision?.turn} ${decision?.emperor}`);
  showMessages(timeline.isNewest ? decision?.messages ?? {} : {});
  guide.update(isOwn ? decision : null, decision?.turn);
  byId("undo").hidden = !(decision?.can_undo && timeline.isNewest);
  byId("coach-button").hidden = !isOwn || !pageData.coach;
  byId("analysis-button").hidden = !pageData.coach || timeline.last === 0;
  if (decision && timeline.isCaughtUp) analysis.update(decision.emperor);
  analysis.show(timeline.shown, timeline.lastLogged);
  const isPlaying = timeline.isNewest && room && !room.agents_only && room.you !== null;
  byId("take-over").hidden = !room || isPlaying || isEnd;
  byId("ending").hidden = !isEnd;
  byId("play-again").hidden = byId("same-dice").hidden = room?.you === null && !room.agents_only;
  byId("same-dice").textContent = room?.has_replay === false ? "Play again from the first position" : "Same dice again";
  byId("save-replay").hidden = room?.has_replay === false;
  byId("save-replay").href = `${location.pathname}/replay.json`;
  byId("save-snapshot").href = `${location.pathname}/snapshot.json?position=${timeline.shown}`;
}

const PROMPTS = {fleets: "place a fleet", arrival: "choose where to arrive", boost: "add 1 to the die?", block: "block the army?"};

function decisionTitle(isOwn) {
  if (!decision) return "Connecting…";
  if (!timeline.isNewest) return timeline.shown < timeline.lastLogged ? "Earlier position" : "Showing events…";
  if (decision.emperor === null) return "The game is over";
  const emperor = capitalize(decision.emperor);
  if (isOwn) return `${emperor}: ${PROMPTS[decision.phase] ?? "choose an action"}`;
  if (room?.agents_only) return timeline.paused ? `${emperor} is next: press play or next action` : `${emperor} decides`;
  const number = room?.players.findIndex((player) => player.emperors.includes(decision.emperor)) ?? -1;
  if (number < 0) return `${emperor} decides`;
  return `${emperor} decides: ${decision.agent ? `agent ${decision.agent}` : displayName(room.players[number], number)}`;
}

// The last token of each Emperor who said one.
function showMessages(messages) {
  const age = (turns) => (turns ? `${turns} turn${turns > 1 ? "s" : ""} ago` : "this turn");
  const said = Object.entries(messages).map(([emperor, [token, turns]]) => `${capitalize(emperor)} ${token} (${age(turns)})`);
  byId("messages").hidden = !said.length;
  byId("messages").textContent = `Last messages: ${said.join(", ")}`;
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
  "coach-button": () => {
    if (!isCoachPending) send("coach", {position: decision.position});
    isCoachPending = true;
  },
  "analysis-button": () => {
    analysis.toggle(decision.emperor);
    showStatus(analysis.isOn ? "Analyzing the game…" : "");
    refresh();
  },
  "take-over": openTakeOverCard,
  "play-again": () => send("play_again"),
  "same-dice": () => send("play_again", {same_dice: true}),
  "rules-button": () => { closeMenus(); byId("rules").showModal(); },
  "close-rules": () => byId("rules").close(),
  "restart-guide": () => { closeMenus(); guide.restart(); },
};
const KEYS = {
  Home: BUTTONS.first, PageUp: BUTTONS["previous-turn"], ArrowLeft: BUTTONS.previous, " ": BUTTONS.play,
  ArrowRight: BUTTONS.next, PageDown: BUTTONS["next-turn"], End: BUTTONS.last,
  ArrowUp: () => choices.moveFocus(-1), ArrowDown: () => choices.moveFocus(1), Escape: closeTopmost,
};
const CHARACTER_KEYS = {
  ".": BUTTONS.last,
  "?": BUTTONS["rules-button"],
  u: () => byId("undo").hidden || BUTTONS.undo(),
  h: () => byId("coach-button").hidden || BUTTONS["coach-button"](),
};

const REPEATED_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Tab"]; // a held key acts once, except these

function closeMenus() {
  for (const menu of document.querySelectorAll("header details[open]")) menu.open = false;
}

function closeTopmost() {
  const menu = document.querySelector("header details[open]");
  if (!menu) return choices.closeCard(true);
  menu.open = false;
  menu.querySelector("summary").focus();
}

function onKey(event) {
  const {key, target} = event;
  if (byId("rules").open) return;
  if (event.repeat && !REPEATED_KEYS.includes(key) && !target.closest("input, textarea")) return event.preventDefault();
  if (key === "Escape") return closeTopmost();
  if (event.altKey || event.ctrlKey || event.metaKey || target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
  if (key === " " && target.closest("button, summary, a, input")) return;
  if (target.type === "range" && key.startsWith("Arrow")) return;
  if (key in KEYS) KEYS[key]();
  else if (!byId("character-keys").checked || key.length > 1) return;
  else if (key.toLowerCase() in CHARACTER_KEYS) CHARACTER_KEYS[key.toLowerCase()]();
  else if (!choices.onKey(key.toLowerCase())) return;
  event.preventDefault();
}

// Settings that the browser remembers.
function restoreSettings() {
  const requested = new URLSearchParams(location.search).get("pace"), pace = requested ?? localStorage.getItem("pace"); // --speed of `watch`
  if (requested) byId("pace").append(element("option", {value: requested, text: `${requested} ms`}));
  if (pace !== null) byId("pace").value = pace;
  byId("pace").addEventListener("change", () => localStorage.setItem("pace", byId("pace").value));
  for (const id of ["sound", "character-keys"]) {
    const stored = localStorage.getItem(id);
    if (stored !== null) byId(id).checked = stored === "true";
    byId(id).addEventListener("change", () => localStorage.setItem(id, String(byId(id).checked)));
  }
  const lobby = sessionStorage.getItem("lobby") ?? pageData.lobby; // a lobby with a key is known only to pages that were opened from it
  byId("to-lobby").hidden = !lobby;
  if (lobby) byId("to-lobby").href = lobby;
}

for (const [id, onClick] of Object.entries(BUTTONS)) byId(id).addEventListener("click", onClick);
byId("slider").addEventListener("input", () => timeline.goTo(Number(byId("slider").value)));
byId("rules").addEventListener("click", (event) => { if (event.target === byId("rules")) byId("rules").close(); }); // outside its content
addEventListener("click", (event) => { if (!event.target.closest("header details")) closeMenus(); });
addEventListener("keydown", onKey);
addEventListener("resize", board.scrollToAction);
showTooltips((place) => choices.choices.filter((choice) => choice.place === place));
restoreSettings();
timeline.setPaused(false);
