// The players menu: who plays which Emperor, who is connected, links to invite others; names are shown as text.
import {byId, capitalize, element, pageData} from "./dom.js";

export function showPlayers(message, send) {
  const {players, you, spectator_link} = message;
  const rows = players.map((player, number) => playerRow(player, number, message, send));
  const isSpectator = you === null;
  byId("players").replaceChildren(
    isSpectator ? element("p", {class: "note", text: "You are a spectator."}) : nameField(players[you], send),
    element("ul", {}, ...rows),
    ...(isSpectator || !pageData.study ? [] : [consentBox(players[you], send)]),
    ...(isSpectator ? [] : [element("p", {class: "note", text: "Link for spectators:"}), linkField(spectator_link)]),
  );
  const away = players.filter((player) => !player.agent && !player.connected).length;
  byId("players-menu").querySelector("summary").textContent = away ? `Players: ${away} away` : "Players";
}

export const displayName = (player, number) =>
  player.you ? "You" : player.agent ? `agent ${player.agent}` : player.name || `player ${number + 1}`;

function playerRow(player, number, message, send) {
  const status = player.agent || player.connected ? "" : player.substitute ? ` (away; agent ${player.substitute} plays)` : " (away)";
  const ownName = player.you && player.name ? ` (${player.name})` : "";
  const row = element("li", {},
    element("strong", {text: player.emperors.map(capitalize).join(", ")}), element("span", {text: `: ${displayName(player, number)}${ownName}${status}`}));
  if (player.link && !player.you) row.append(linkField(player.link));
  if (message.you !== null && !player.agent && !player.connected && !player.substitute) row.append(substituteForm(number, message, send));
  return row;
}

function linkField(path) {
  const url = new URL(path, location.href).href;
  const field = element("input", {readonly: true, value: url, "aria-label": "Link", onfocus: (event) => event.target.select()});
  const copy = element("button", {type: "button", text: "Copy", onclick: () => { navigator.clipboard?.writeText(url); field.select(); }});
  return element("div", {class: "link"}, field, copy);
}

// An agent plays for an absent player if all connected players agree on it.
function substituteForm(number, {proposals, you}, send) {
  const [proposed, agreed] = proposals[number] ?? [null, []];
  const select = element("select", {"aria-label": "Substitute agent"}, ...pageData.agents.map(({name}) => element("option", {value: name, text: name})));
  if (proposed) select.value = proposed;
  const text = !proposed ? "Let an agent substitute" : agreed.includes(you) ? "Waiting for other players" : "Agree";
  const button = element("button", {type: "button", text, onclick: () => send("substitute", {player: number, agent: select.value})});
  return element("div", {class: "link"}, select, button);
}

function consentBox(player, send) {
  const box = element("input", {type: "checkbox", checked: player.consent, onchange: () => send("set_consent", {consent: box.checked})});
  const text = "Keep this game for research, with decision times and a random id for me. It is kept only if all players agree.";
  return element("label", {class: "check"}, box, element("span", {text}));
}

function nameField(player, send) {
  const field = element("input", {
    maxlength: 24, value: player.name, "aria-label": "Your name, shown to other players", placeholder: "your name",
    onchange: () => send("rename", {name: field.value}),
  });
  return element("div", {class: "link"}, field);
}
