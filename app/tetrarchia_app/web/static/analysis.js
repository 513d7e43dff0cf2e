// The coach's suggestions for a decision, and the position analysis of the game so far.
import {byId, capitalize, element, percent} from "./dom.js";
import * as board from "./board.js";
import * as log from "./log.js";
import {displayName} from "./players.js";

const MAX_MISTAKES = 6;
const change = (points) => (Math.abs(points) < 0.0005 ? "" : `, ${points > 0 ? "+" : "−"}${Math.abs(100 * points).toFixed(1)} points`);

export function showCoach({critic, actions}, choices) {
  const rows = actions.map(({action, label, probability, chance, change: points}, index) =>
    element("li", {}, element("button", {"data-suggestion": action, onclick: (event) => choices.pickAction(action, event)},
      element("b", {class: "rank", text: index + 1}), element("span", {text: label}),
      element("small", {text: `chance to win ${percent(chance)}${index ? change(points) : ""}; ${critic} plays it with probability ${percent(probability)}`}))));
  byId("coach").replaceChildren(element("h3", {text: "The coach suggests"}), element("ol", {}, ...rows));
  byId("coach").hidden = false;
  board.showAdvice(actions, choices.choices);
}

export function hideCoach() {
  byId("coach").hidden = true;
  board.showAdvice([], []);
}

// Curve above the slider, likely actions in the position shown, and luck and mistakes in the log.
// While it is switched on it is requested again whenever another Emperor decides: the dice of a turn are known by then.
export class Analysis {
  constructor(request, goTo, tryAgain) {
    this.request = request;
    this.goTo = goTo;
    this.tryAgain = tryAgain;
    this.result = null;
    this.isOn = false;
    this.isPending = false;
    this.emperor = undefined; // who decided at the last request; null: the game was over
    this.lastPosition = 1;
  }

  toggle(emperor) {
    this.isOn = !this.isOn;
    byId("analysis-button").setAttribute("aria-pressed", String(this.isOn));
    if (this.isOn) this.sendRequest(emperor);
    else this.clear();
  }

  update(emperor) {
    if (this.isOn && !this.isPending && emperor !== this.emperor) this.sendRequest(emperor);
  }

  sendRequest(emperor) {
    this.emperor = emperor;
    this.isPending = true;
    this.request();
  }

  receive(result, room) {
    this.isPending = false;
    if (!this.isOn) return;
    this.result = result;
    byId("curve-container").innerHTML = result.curve;
    byId("curve")?.addEventListener("click", (event) => {
      const {left, width} = byId("curve").getBoundingClientRect();
      this.goTo(Math.round(((event.clientX - left) / width) * this.lastPosition));
    });
    log.annotate(result.marks, result.turns);
    this.showMistakes(result.mistakes, room);
  }

  onError() {
    this.isPending = false;
  }

  // After an undo or a reconnection, an earlier result may belong to other actions.
  invalidate() {
    this.isPending = false;
    this.emperor = undefined;
  }

  show(position, lastPosition) {
    const found = this.result?.positions[position];
    this.lastPosition = Math.max(lastPosition, 1);
    byId("analysis").hidden = !found;
    byId("analysis").replaceChildren(...(found ? positionAnalysis(found, this.result.critic) : []));
    byId("curve")?.setAttribute("viewBox", `0 0 ${this.lastPosition} 100`); // as wide as the slider, even if it covers fewer actions
    byId("cursor")?.setAttribute("transform", `translate(${position})`);
  }

  clear() {
    this.result = null;
    byId("curve-container").replaceChildren();
    byId("analysis").hidden = byId("mistakes").hidden = true;
    log.annotate([], {});
  }

  // A mistake leads to the position before the choice, where the likely actions are listed; an own one can be played again from there.
  showMistakes(mistakes, room) {
    const rows = mistakes.map((mistake) => {
      const {position, turn, emperor, player, agent, cost, played, best} = mistake;
      const isOwn = player !== null && player === room?.you && !agent;
      const by = agent ? `agent ${agent}` : player === null ? "" : displayName(room.players[player], player);
      const show = element("button", {class: "show", onclick: () => this.goTo(position)},
        element("b", {text: `Turn ${turn}, ${capitalize(emperor)}${by ? ` (${by})` : ""}: −${cost}`}),
        element("span", {text: `${played}; better: ${best}`}));
      const again = element("button", {class: "try-again", text: "Try again from here", onclick: () => this.tryAgain(position)});
      return element("li", {class: isOwn ? "own" : ""}, show, ...(isOwn ? [again] : []));
    });
    rows.sort((a, b) => b.classList.contains("own") - a.classList.contains("own")); // own mistakes first
    rows.splice(MAX_MISTAKES);
    byId("mistakes").replaceChildren(element("h3", {text: mistakes.length ? "Worst choices" : "No choice was worse than the best by more than the noise of the estimate."}),
      element("ul", {}, ...rows));
    byId("mistakes").hidden = false;
  }
}

function positionAnalysis({chance, note, turn, actions}, critic) {
  const parts = [element("p", {class: "chance"}, element("strong", {text: percent(chance)}), " ", element("span", {text: `chance to win, estimated by ${critic}`}))];
  if (note) parts.push(element("p", {class: "note", text: note}));
  if (turn) parts.push(element("p", {class: "luck", text: `This turn: ${turn}.`}));
  return actions.length ? [...parts, actionTable(actions, critic)] : parts;
}

function actionTable(actions, critic) {
  const columns = {Likely: `How often ${critic} plays it here`, Action: "", "Then": `Chance to win at the end of the turn, if ${critic} continues`};
  const head = Object.entries(columns).map(([text, title]) => element("th", {scope: "col", title: title || null, text}));
  const rows = actions.map(({label, probability, chance, is_played: isPlayed}) => element("tr", {class: isPlayed ? "played" : null},
    element("td", {text: probability < 0.005 ? "rarely" : percent(probability)}),
    element("td", {}, label, ...(isPlayed ? [" ", element("small", {text: "played"})] : [])), element("td", {text: percent(chance)})));
  return element("table", {class: "likeliest"}, element("caption", {text: "Likely actions in this position"}),
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}
