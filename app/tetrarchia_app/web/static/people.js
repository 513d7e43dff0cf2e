// Who plays whom, who is here, and the links that bring others in; names are shown as text.
import {byId, capital, given, made} from "./elements.js";

const box = byId("people");

export function showPeople(told, send) {
  const rows = told.players.map((player, number) => row(player, number, told, send));
  const study = told.you !== null && given.study ? [consent(told, send)] : [];
  const watch = told.you === null ? [] : [made("p", {class: "note", text: "To look on, without playing:"}), link(told.watch)];
  box.replaceChildren(...(told.you === null ? [made("p", {class: "note", text: "You look on."})] : [rename(told, send)]), made("ul", {}, ...rows), ...study, ...watch);
  const away = told.players.filter((player) => !player.agent && !player.here).length;
  byId("people-box").querySelector("summary").textContent = away ? `Players: ${away} away` : "Players";
}

export const nameOf = (player, number) => (player.you ? "You" : player.agent ? `agent ${player.agent}` : player.name || `person ${number + 1}`);

function row(player, number, told, send) {
  const who = player.emperors.map(capital).join(", ");
  const state = player.agent ? "" : player.standIn ? ` (away; ${player.standIn} plays)` : player.here ? "" : " (away)";
  const item = made("li", {}, made("strong", {text: who}), made("span", {text: `: ${nameOf(player, number)}${player.you && player.name ? ` (${player.name})` : ""}${state}`}));
  if (player.link && !player.you) item.append(link(player.link));
  if (told.you !== null && !player.agent && !player.here && !player.standIn) item.append(standIn(number, told, send));
  return item;
}

function link(address) {
  const whole = new URL(address, location.href).href;
  const field = made("input", {readonly: true, value: whole, "aria-label": "A link to hand on", onfocus: (event) => event.target.select()});
  const copy = made("button", {type: "button", text: "Copy", onclick: () => { navigator.clipboard?.writeText(whole); field.select(); }});
  return made("div", {class: "link"}, field, copy);
}

function standIn(number, told, send) {
  const [wanted, agreed] = told.wanted[number] ?? [null, []];
  const select = made("select", {"aria-label": "Agent that plays meanwhile"}, ...given.agents.map((agent) => made("option", {value: agent.name, text: agent.name})));
  if (wanted) select.value = wanted;
  const words = wanted ? (agreed.includes(told.you) ? "waiting for the others" : "Agree") : "Let an agent play meanwhile";
  const button = made("button", {type: "button", text: words, onclick: () => send("stand in", {player: number, agent: select.value})});
  return made("div", {class: "link"}, select, button);
}

function consent(told, send) {
  const box = made("input", {type: "checkbox", checked: told.players[told.you].consent, onchange: () => send("consent", {given: box.checked})});
  const words = "This game may be kept for research, with its times and a random number for me, if everybody who plays agrees.";
  return made("label", {class: "check"}, box, made("span", {text: words}));
}

function rename(told, send) {
  const mine = told.players[told.you];
  const field = made("input", {maxlength: 24, value: mine.name, "aria-label": "Your name, for the others", placeholder: "your name", onchange: () => send("name", {name: field.value})});
  return made("div", {class: "link"}, field);
}
