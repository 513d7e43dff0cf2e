// The coach's suggestions for a decision, and the position analysis of the game so far.
import {byId, element, percent} from "./dom.js";
import {actionLabel} from "./choices.js";
import * as log from "./log.js";

const signedPercent = (change) => (Math.abs(change) < 0.0005 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)} %)`);

export function showCoach(suggestions, choices, play) {
  const rows = suggestions.map(({text, probability, win_probability, change}) => {
    const choice = choices.find(({action}) => action === text) ?? {action: text, place: ""};
    return element("li", {}, element("button", {"data-suggestion": text, onclick: () => play(text)},
      element("span", {text: actionLabel(choice)}),
      element("small", {text: `probability ${percent(probability)}; chance to win ${percent(win_probability)}${signedPercent(change)}`})));
  });
  byId("coach").replaceChildren(element("h3", {text: "The coach suggests"}), element("ol", {}, ...rows));
  byId("coach").hidden = false;
}

export function hideCoach() {
  byId("coach").hidden = true;
}

// Curve above the slider, likely actions in the position shown, and luck and mistakes in the log; the server renders them as HTML.
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
    const html = this.result?.positions[position];
    this.lastPosition = Math.max(lastPosition, 1);
    byId("analysis").hidden = !html;
    byId("analysis").innerHTML = html ?? "";
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

// Each button leads to the position before the choice, where the likely actions are listed.
function showMistakes({mistakes, marks}, goTo) {
  const buttons = mistakes.map(({position, turn, cost}) => element("button", {title: marks[position + 1], onclick: () => goTo(position)},
    element("span", {text: `turn ${turn}`}), element("small", {text: ` −${cost}`})));
  byId("mistakes").replaceChildren(element("span", {text: "Worst choices:"}), ...buttons);
  byId("mistakes").hidden = !mistakes.length;
}
