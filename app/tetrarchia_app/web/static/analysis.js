// The coach's suggestions for a decision, and the position analysis of the game so far.
import {byId, capitalize, element, percent} from "./dom.js";
import * as log from "./log.js";

const signedPercent = (change) => (Math.abs(change) < 0.0005 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)} %)`);

export function showCoach({actions}, play) {
  const rows = actions.map(({action, label, probability, chance, change}) => element("li", {},
    element("button", {"data-suggestion": action, onclick: () => play(action)},
      element("span", {text: label}),
      element("small", {text: `probability ${percent(probability)}; chance to win ${percent(chance)}${signedPercent(change)}`}))));
  byId("coach").replaceChildren(element("h3", {text: "The coach suggests"}), element("ol", {}, ...rows));
  byId("coach").hidden = false;
}

export function hideCoach() {
  byId("coach").hidden = true;
}

// Curve above the slider, likely actions in the position shown, and luck and mistakes in the log.
// While it is switched on it is requested again whenever another Emperor decides: the dice of a turn are known by then.
export class Analysis {
  constructor(request, goTo) {
    this.request = request;
    this.goTo = goTo;
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

  receive(result) {
    this.isPending = false;
    if (!this.isOn) return;
    this.result = result;
    byId("curve-container").innerHTML = result.curve;
    byId("curve")?.addEventListener("click", (event) => {
      const {left, width} = byId("curve").getBoundingClientRect();
      this.goTo(Math.round(((event.clientX - left) / width) * this.lastPosition));
    });
    log.annotate(result.marks, result.turns);
    showMistakes(result, this.goTo);
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
    byId("analysis").replaceChildren(...(found ? positionAnalysis(found) : []));
    byId("curve")?.setAttribute("viewBox", `0 0 ${this.lastPosition} 100`); // as wide as the slider, even if it covers fewer actions
    byId("cursor")?.setAttribute("transform", `translate(${position})`);
  }

  clear() {
    this.result = null;
    byId("curve-container").replaceChildren();
    byId("analysis").hidden = byId("mistakes").hidden = true;
    log.annotate([], {});
  }
}

function positionAnalysis({chance, note, turn, actions}) {
  const rows = actions.map(({label, probability, chance, is_played}) => element("tr", {class: is_played ? "played" : null},
    element("td", {text: probability < 0.005 ? "< 1 %" : percent(probability)}),
    element("td", {}, label, ...(is_played ? [" ", element("small", {text: "played"})] : [])), element("td", {text: percent(chance)})));
  const heads = ["Likely", "Action", "Then"].map((text) => element("th", {scope: "col", text}));
  return [
    element("p", {class: "chance"}, element("strong", {text: percent(chance)}), " ", element("span", {text: "chance to win"})),
    ...(note ? [element("p", {class: "note", text: note})] : []),
    ...(turn ? [element("p", {class: "luck", text: `This turn: ${turn}.`})] : []),
    ...(rows.length ? [element("table", {class: "likeliest"}, element("caption", {text: "The likeliest actions here"}),
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows))] : []),
  ];
}

// Each button leads to the position before the choice, where the likely actions are listed.
function showMistakes({mistakes, marks}, goTo) {
  const buttons = mistakes.slice(0, 3).map(({position, turn, emperor, cost}) => element("button", {title: marks[position + 1], onclick: () => goTo(position)},
    element("span", {text: `turn ${turn}, ${capitalize(emperor)}`}), element("small", {text: ` −${cost}`})));
  byId("mistakes").replaceChildren(element("span", {text: "Worst choices:"}), ...buttons);
  byId("mistakes").hidden = !mistakes.length;
}
