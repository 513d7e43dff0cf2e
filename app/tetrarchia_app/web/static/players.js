// The players: who this page is, whose turn it is, who is connected, and links to invite others; names are shown as text.
import {byId, capitalize, element, pageData} from "./dom.js";

export function showPlayers(message, send) {
  const {players, you, spectator_link} = message, isSpectator = you === null;
  const rows = players.map((player, number) => playerRow(player, number, message, send));
  const invited = players.filter(isInvited);
  byId("players").replaceChildren(
    ...(invited.length ? [element("p", {class: "invite", text: `Invite the other ${invited.length === 1 ? "player" : "players"}: send each of them the link below.`})] : []),
    isSpectator ? element("p", {class: "note", text: "You are a spectator."}) : nameField(players[you], send),
    element("ul", {}, ...rows),
    ...(isSpectator || !pageData.study ? [] : [consentBox(players[you], send)]),
    element("p", {class: "note", text: isSpectator ? "Link for other spectators:"
      : "Link for spectators. Do not share the address of this page: it is your seat, and a browser that opens it plays for you."}),
    linkField(spectator_link),
  );
  const away = players.filter((player) => !player.agent && !player.connected).length;
  byId("players-menu").querySelector("summary").textContent = away ? `Players: ${away} away` : "Players";
  byId("identity").textContent = isSpectator ? "You are a spectator" : `You are ${listNames(players[you].emperors)}`;
  openInvitations(invited.length);
}

// The links of other players are shown once in each new room.
function openInvitations(count) {
  const key = `invited ${location.pathname}`;
  if (!count || sessionStorage.getItem(key)) return;
  sessionStorage.setItem(key, "yes");
  byId("players-menu").open = true;
}

const isInvited = (player) => Boolean(player.link) && !player.you && !player.connected && !player.substitute;

function listNames(emperors) {
  if (emperors.length === pageData.emperors.length) return "all four Emperors";
  const named = emperors.map(capitalize);
  return named.length > 1 ? `${named.slice(0, -1).join(", ")} and ${named.at(-1)}` : named[0];
}

export const displayName = (player, number) =>
  player.you ? "you" : player.agent ? `agent ${player.agent}` : player.name || `player ${number + 1}`;

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

// Tab title and, if switched on, a sound when the player's turn begins; further decisions of the same turn are silent.
let announced = "";

export function announceTurn(isOwn, title, turn) {
  document.title = `${isOwn ? "● Your turn: " : ""}${title} – TETRARCHIA`;
  if (!isOwn) return;
  if (turn !== announced && byId("sound").checked) playSound();
  announced = turn;
}

function playSound() {
  if (navigator.userActivation?.hasBeenActive === false) return; // browsers allow sounds only after a click or a key
  const audio = new AudioContext(), tone = audio.createOscillator(), volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.15, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.5);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.5);
  tone.addEventListener("ended", () => audio.close());
}
