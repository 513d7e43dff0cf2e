// The lobby: what is chosen becomes one question to the server, which answers with the address of a room.
import {byId, capital, given as data, made} from "./elements.js";

const EMPERORS = [["diocletian", "D", "Augustus, East"], ["galerius", "G", "Caesar, East"], ["constantius", "C", "Caesar, West"], ["maximian", "M", "Augustus, West"]];
const PERSONS = ["person 1", "person 2", "person 3", "person 4"];
const SHARES = { // R13.1: how so many persons share the Emperors; an agent plays where nobody is named
  0: [null, null, null, null],
  1: [0, null, null, null],
  2: [0, 0, 1, 1],
  3: [0, 0, 1, 2],
  4: [0, 1, 2, 3],
  all: [0, 0, 0, 0],
};
let file = null; // a replay or a snapshot to go on from

function offerEmperors() {
  for (const [name, letter, rank] of EMPERORS) {
    const select = made("select", {id: `seat-${name}`});
    PERSONS.forEach((person, k) => select.append(made("option", {value: person, text: k ? `person ${k + 1}, by a link` : "me"})));
    for (const agent of data.agents) select.append(made("option", {value: agent.name, text: `agent ${agent.name}`}));
    select.addEventListener("change", refresh);
    const badge = made("span", {class: `who ${name}`, text: letter, "aria-hidden": "true"});
    const label = made("label", {for: select.id}, made("strong", {text: capital(name)}), made("small", {text: rank}));
    byId("emperors").append(made("div", {class: "seat"}, badge, label, select));
  }
}

const seats = () => EMPERORS.map(([name]) => byId(`seat-${name}`).value);

function share(kind) {
  const agent = defaultAgent();
  SHARES[kind].forEach((person, k) => { byId(`seat-${EMPERORS[k][0]}`).value = person === null ? agent : PERSONS[person]; });
  refresh();
}

function defaultAgent() {
  const needsAll = chosen("variants").some((name) => ["imperivm", "patres_patriae"].includes(name)) || chosen("modules").some((name) => name !== "goths")
    || ["carausian_revolt", "mauretanian_war"].includes(byId("scenario").value);
  return (data.agents.find((agent) => !(needsAll && agent.baseOnly)) ?? data.agents[0]).name;
}

function offerLevel() {
  data.digits.forEach((digit, k) => {
    const select = made("select", {id: `digit-${k}`});
    for (const value of digit.values) select.append(made("option", {value, text: value}));
    select.value = "4211"[k];
    select.addEventListener("change", refresh);
    const words = made("span", {}, made("b", {id: `digit-words-${k}`}), made("small", {text: digit.why}));
    byId("digits").append(made("label", {class: "digit"}, select, words));
  });
}

const level = () => data.digits.map((_, k) => byId(`digit-${k}`).value).join("");

function offerChecks(place, known) {
  for (const [name, about] of Object.entries(known)) {
    const box = made("input", {type: "checkbox", value: name});
    box.addEventListener("change", refresh);
    byId(place).append(made("label", {class: "check"}, box, made("span", {}, made("b", {text: name.replaceAll("_", " ")}), `: ${about}`)));
  }
}

const chosen = (place) => [...byId(place).querySelectorAll("input:checked")].map((box) => box.value);

function offerScenarios() {
  for (const [name, about] of Object.entries(data.scenarios)) {
    byId("scenario").append(made("option", {value: name, text: `${name.replaceAll("_", " ")}: ${about}`}));
  }
  byId("scenario").addEventListener("change", refresh);
}

function refresh() {
  const scenario = byId("scenario").value, here = seats();
  for (const place of ["level", "modules"]) {
    for (const field of byId(place).querySelectorAll("select, input")) field.disabled = Boolean(scenario);
  }
  data.digits.forEach((digit, k) => { byId(`digit-words-${k}`).textContent = byId(`digit-${k}`).value === "1" ? digit.one : digit.many; });
  byId("level-note").textContent = scenario ? "The scenario sets the level and the modules." : `Level ${level()}${data.levels[level()] ? `: ${data.levels[level()]}` : ""}.`;
  byId("links").hidden = !here.some((seat) => PERSONS.indexOf(seat) > 0);
  for (const button of document.querySelectorAll("[data-players]")) {
    const shares = SHARES[button.dataset.players];
    const same = shares.every((person, k) => (person === null ? !PERSONS.includes(here[k]) : here[k] === PERSONS[person]));
    button.setAttribute("aria-pressed", String(same));
  }
  byId("rules").hidden = file !== null;
}

async function readFile() {
  const given = byId("file").files[0];
  file = null;
  if (given) {
    try {
      takeFile(await given.text(), given.name);
    } catch {
      byId("file-note").textContent = `${given.name} is not JSON.`;
    }
  }
  byId("no-file").hidden = file === null;
  refresh();
}

// The server is given the text as it is: the dice are numbers too large for JavaScript.
function takeFile(text, name) {
  const content = JSON.parse(text), isReplay = Array.isArray(content?.actions);
  file = {kind: isReplay ? "replay" : "snapshot", text};
  byId("number-field").hidden = !isReplay;
  if (isReplay) Object.assign(byId("number"), {max: content.actions.length, value: content.actions.length});
  byId("file-note").textContent = isReplay ? `${name}: a replay of ${content.actions.length} actions.` : `${name}: a snapshot.`;
}

function setup() {
  const common = {emperors: seats(), name: byId("name").value, consent: byId("study").checked};
  if (file) return `${JSON.stringify({...common, number: Number(byId("number").value)}).slice(0, -1)},"${file.kind}":${file.text}}`;
  const seed = byId("seed").value.trim(), scenario = byId("scenario").value;
  if (seed && !/^\d{1,18}$/.test(seed)) throw new Error(`A seed is a whole number, not "${seed}".`);
  const rules = scenario ? {scenario} : {level: level(), modules: chosen("modules")};
  const whole = JSON.stringify({...common, ...rules, variants: chosen("variants")});
  return seed ? `${whole.slice(0, -1)},"seed":${BigInt(seed)}}` : whole;
}

async function begin(event) {
  event.preventDefault();
  byId("trouble").textContent = "";
  byId("begin").disabled = true;
  try {
    const answer = await fetch(`${location.pathname}rooms`, {method: "POST", body: setup()});
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.sentence);
    location.assign(told.address);
  } catch (error) {
    byId("trouble").textContent = error.message;
    byId("begin").disabled = false;
  }
}

function explainAgents() {
  const base = (agent) => (agent.baseOnly ? "; the base game only" : "");
  for (const agent of data.agents) byId("agents").append(made("dt", {text: agent.name}), made("dd", {text: `${agent.about}${base(agent)}`}));
}

offerEmperors();
explainAgents();
offerLevel();
offerScenarios();
offerChecks("modules", data.modules);
offerChecks("variants", data.variants);
byId("study-field").hidden = !data.study;
for (const button of document.querySelectorAll("[data-players]")) button.addEventListener("click", () => share(button.dataset.players));
byId("file").addEventListener("change", readFile);
byId("no-file").addEventListener("click", () => { byId("file").value = ""; byId("file-note").textContent = ""; byId("number-field").hidden = true; readFile(); });
byId("setup").addEventListener("submit", begin);
share(1);
