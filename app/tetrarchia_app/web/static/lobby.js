// The lobby: sends the chosen setup to the server, which creates a room and returns its URL.
import {byId, capitalize, element, pageData} from "./dom.js";

const EMPERORS = [["diocletian", "D", "Augustus, East"], ["galerius", "G", "Caesar, East"], ["constantius", "C", "Caesar, West"], ["maximian", "M", "Augustus, West"]];
const PLAYERS = ["player 1", "player 2", "player 3", "player 4"];
const PRESETS = { // the player of each Emperor (R13.1); null: an agent
  0: [null, null, null, null],
  1: [0, null, null, null],
  2: [0, 0, 1, 1],
  3: [0, 0, 1, 2],
  4: [0, 1, 2, 3],
  all: [0, 0, 0, 0],
};
const DEFAULT_LEVEL = "4211";
let file = null; // a replay or a snapshot to continue from
const wantedAgents = {}; // by Emperor: the agent that was chosen; another one plays rules that it does not know

function addEmperors() {
  for (const [name, letter, rank] of EMPERORS) {
    const select = element("select", {id: `seat-${name}`, onchange: () => { wantedAgents[name] = select.value; refresh(); }});
    PLAYERS.forEach((player, index) => select.append(element("option", {value: player, text: index ? `${player}, by link` : "me"})));
    for (const agent of pageData.agents) select.append(element("option", {value: agent.name, text: `agent ${agent.name}`}));
    const badge = element("span", {class: `badge ${name}`, text: letter, "aria-hidden": "true"});
    const label = element("label", {for: select.id}, element("strong", {text: capitalize(name)}), element("small", {text: rank}));
    byId("emperors").append(element("div", {class: "seat"}, badge, label, select));
  }
}

function addAgents() {
  for (const {name, about, base_only} of pageData.agents) {
    byId("agents").append(element("dt", {text: name}), element("dd", {text: `${about}${base_only ? "; base game only" : ""}`}));
  }
}

function addLevelDigits() {
  pageData.digits.forEach(({values, why}, index) => {
    const select = element("select", {id: `digit-${index}`, onchange: refresh}, ...[...values].map((value) => element("option", {value, text: value})));
    select.value = DEFAULT_LEVEL[index];
    const text = element("span", {}, element("b", {id: `digit-text-${index}`}), element("small", {text: why}));
    byId("digits").append(element("label", {class: "digit"}, select, text));
  });
}

function addOptions(id, options) {
  for (const [name, about] of Object.entries(options)) {
    byId(id).append(element("option", {value: name, text: `${name.replaceAll("_", " ")}: ${about}`}));
  }
  byId(id).addEventListener("change", refresh);
}

function addInformation() {
  const {view_radius: radius, last_seen: lastSeen, message_tokens: tokens} = pageData.local;
  const radii = Array.from({length: pageData.max_radius + 1}, (_, links) => [String(links), links ? `spaces within ${links} link${links > 1 ? "s" : ""}` : "his own space"]);
  const counts = Array.from({length: pageData.max_tokens + 1}, (_, count) => [String(count), count ? String(count) : "none"]);
  if (radius === null) radii.unshift(["", "the whole board"]); // a server with local information has it in every room
  for (const [id, options] of [["view-radius", radii], ["message-tokens", counts]]) {
    byId(id).append(...options.map(([value, text]) => element("option", {value, text})));
    byId(id).addEventListener("change", refresh);
  }
  byId("last-seen").addEventListener("change", refresh);
  byId("view-radius").value = radius ?? "";
  byId("last-seen").checked = lastSeen;
  byId("message-tokens").value = tokens;
}

function addChecks(id, options) {
  for (const [name, about] of Object.entries(options)) {
    const box = element("input", {type: "checkbox", value: name, onchange: refresh});
    byId(id).append(element("label", {class: "check"}, box, element("span", {}, element("b", {text: name.replaceAll("_", " ")}), `: ${about}`)));
  }
}

const chosenSeats = () => EMPERORS.map(([name]) => byId(`seat-${name}`).value);
const chosenLevel = () => pageData.digits.map((_, index) => byId(`digit-${index}`).value).join("");
const chosenChecks = (id) => [...byId(id).querySelectorAll("input:checked")].map((box) => box.value);

function chosenInformation() {
  if (!byId("view-radius").value) return {view_radius: null, last_seen: false, message_tokens: 0};
  return {view_radius: Number(byId("view-radius").value), last_seen: byId("last-seen").checked, message_tokens: Number(byId("message-tokens").value)};
}

function applyPreset(name) {
  PRESETS[name].forEach((player, index) => {
    const emperor = EMPERORS[index][0];
    wantedAgents[emperor] = byId(`seat-${emperor}`).value = player === null ? pageData.agents[0].name : PLAYERS[player];
  });
  refresh();
}

// Replace agents that cannot play with the chosen rules or information by the first one that does, and restore them when they do.
function updateAgents() {
  const modules = byId("scenario").value ? [] : chosenChecks("modules");
  const rules = [...chosenChecks("variants"), ...modules, byId("scenario").value];
  const needsAllActions = !file && rules.some((name) => pageData.needs_all_actions.includes(name));
  const local = chosenInformation();
  const hasInformation = ({needs_games: needsGames, local: trained}) => (needsGames ? local.view_radius === null || pageData.allow_full_information
    : !trained || Object.keys(local).every((name) => trained[name] === local[name]));
  const canPlay = (agent) => !(needsAllActions && agent.base_only) && (file || hasInformation(agent));
  const substitute = pageData.agents.find(canPlay)?.name;
  const replaced = new Set();
  for (const [emperor] of EMPERORS) {
    const wanted = wantedAgents[emperor], agent = pageData.agents.find(({name}) => name === wanted);
    const isReplaced = agent && substitute && !canPlay(agent);
    byId(`seat-${emperor}`).value = isReplaced ? substitute : wanted;
    if (isReplaced) replaced.add(wanted);
  }
  byId("agents-note").hidden = !replaced.size;
  byId("agents-note").textContent = `Agent ${[...replaced].join(" and ")} does not know the actions of these rules, or needs other information: agent ${substitute} plays instead.`;
}

function refresh() {
  updateAgents();
  const scenario = byId("scenario").value, task = byId("task").value, seats = chosenSeats(), level = chosenLevel();
  byId("scenario").disabled = Boolean(task);
  byId("task").disabled = Boolean(scenario);
  for (const field of byId("level").querySelectorAll("select")) field.disabled = Boolean(scenario || task);
  for (const field of byId("modules").querySelectorAll("input")) field.disabled = Boolean(scenario);
  byId("last-seen").disabled = byId("message-tokens").disabled = !byId("view-radius").value;
  pageData.digits.forEach(({one, many}, index) => { byId(`digit-text-${index}`).textContent = level[index] === "1" ? one : many; });
  const levelName = pageData.levels[level] ? `: ${pageData.levels[level]}` : "";
  const setBy = scenario ? "The scenario sets the level and the modules." : task ? "The task sets the level and the first position." : "";
  byId("level-note").textContent = setBy || `Level ${level}${levelName}.`;
  byId("links-note").hidden = !seats.some((seat) => PLAYERS.indexOf(seat) > 0);
  for (const button of document.querySelectorAll("[data-players]")) {
    const isChosen = PRESETS[button.dataset.players].every((player, index) => (player === null ? !PLAYERS.includes(seats[index]) : seats[index] === PLAYERS[player]));
    button.setAttribute("aria-pressed", String(isChosen));
  }
  byId("rules").hidden = file !== null;
  byId("remove-file").hidden = file === null;
}

async function readFile() {
  const chosen = byId("file").files[0];
  file = null;
  byId("position-field").hidden = true;
  byId("file-note").textContent = "";
  if (chosen) {
    try {
      useFile(await chosen.text(), chosen.name);
    } catch {
      byId("file-note").textContent = `${chosen.name} is not JSON.`;
    }
  }
  refresh();
}

// The text is sent unchanged: the dice state has more digits than a JavaScript number.
function useFile(text, name) {
  const content = JSON.parse(text), isReplay = Array.isArray(content?.actions);
  file = {kind: isReplay ? "replay" : "snapshot", text};
  byId("position-field").hidden = !isReplay;
  if (isReplay) Object.assign(byId("position"), {max: content.actions.length, value: content.actions.length});
  byId("file-note").textContent = isReplay ? `${name}: a replay of ${content.actions.length} actions.` : `${name}: a snapshot.`;
}

function setupJson() {
  const common = {emperors: chosenSeats(), name: byId("name").value, consent: byId("consent").checked};
  if (file) return `${JSON.stringify({...common, position: Number(byId("position").value)}).slice(0, -1)},"${file.kind}":${file.text}}`;
  const seed = byId("seed").value.trim(), scenario = byId("scenario").value, task = byId("task").value;
  if (seed && !/^\d{1,18}$/.test(seed)) throw new Error(`The seed must be an integer with at most 18 digits; got "${seed}".`);
  const setup = task ? {task} : {level: chosenLevel()};
  const rules = scenario ? {scenario} : {...setup, modules: chosenChecks("modules")};
  const json = JSON.stringify({...common, ...rules, ...chosenInformation(), variants: chosenChecks("variants")});
  return seed ? `${json.slice(0, -1)},"seed":${BigInt(seed)}}` : json;
}

async function start(event) {
  event.preventDefault();
  byId("error").textContent = "";
  byId("start").disabled = true;
  try {
    const response = await fetch(`${location.pathname}rooms`, {method: "POST", body: setupJson()});
    const {url, error} = await response.json();
    if (!response.ok) throw new Error(error);
    sessionStorage.setItem("lobby", location.pathname);
    location.assign(url);
  } catch (error) {
    byId("error").textContent = capitalize(error.message);
    byId("start").disabled = false;
  }
}

addEmperors();
addAgents();
addLevelDigits();
addOptions("scenario", pageData.scenarios);
addOptions("task", pageData.tasks);
addChecks("modules", pageData.modules);
addChecks("variants", pageData.variants);
addInformation();
byId("consent-field").hidden = !pageData.study;
for (const button of document.querySelectorAll("[data-players]")) button.addEventListener("click", () => applyPreset(button.dataset.players));
byId("file").addEventListener("change", readFile);
byId("remove-file").addEventListener("click", () => { byId("file").value = ""; readFile(); });
byId("setup").addEventListener("submit", start);
applyPreset(1);
