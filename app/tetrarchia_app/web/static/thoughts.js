// What an agent thinks: the coach's advice for a decision, and the analysis of the whole game.
import {byId, made, percent} from "./elements.js";
import {label} from "./choices.js";
import * as log from "./log.js";

const signed = (change) => (Math.abs(change) < 0.0005 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)} %)`);

export function showCoach(advice, offered, play) {
  const rows = advice.map(({text, probability, chance, change}) => {
    const choice = offered.find((one) => one.action === text) ?? {action: text, place: ""};
    return made("li", {}, made("button", {"data-advice": text, onclick: () => play(text)}, made("span", {class: "what", text: label(choice)}),
      made("small", {text: `likes it ${percent(probability)}; chance to win ${percent(chance)}${signed(change)}`})));
  });
  byId("coach").replaceChildren(made("h3", {text: "The coach would"}), made("ol", {}, ...rows));
  byId("coach").hidden = false;
}

export function hideCoach() {
  byId("coach").hidden = true;
}

// Of the whole game: the curve over the slider, what is likely in the position shown, and in the log what dice and choices did. Drawn and worded by the server.
// As long as it is wanted it is asked for anew whenever another Emperor decides: by then the dice of a turn have fallen.
export class Analysis {
  constructor(ask, go) {
    this.ask = ask;
    this.go = go;
    this.answer = null;
    this.isWanted = false;
    this.isAsked = false;
    this.decider = undefined; // who decided when it was last asked for; null: nobody, the game was over
  }

  toggle(decider) {
    this.isWanted = !this.isWanted;
    byId("ask-analysis").setAttribute("aria-pressed", String(this.isWanted));
    if (this.isWanted) this.want(decider);
    else this.forget();
  }

  follow(decider) {
    if (this.isWanted && !this.isAsked && decider !== this.decider) this.want(decider);
  }

  want(decider) {
    this.decider = decider;
    this.isAsked = true;
    this.ask();
  }

  take(answer) {
    this.isAsked = false;
    if (!this.isWanted) return;
    this.answer = answer;
    byId("curve-place").innerHTML = answer.curve;
    byId("curve")?.addEventListener("click", (event) => this.jump(event));
    log.judge(answer.marks, answer.turns);
    showWorst(answer, this.go);
  }

  refused() {
    this.isAsked = false;
  }

  // Actions were taken back, or the line was lost meanwhile: what was thought may be of another game.
  doubt() {
    this.isAsked = false;
    this.decider = undefined;
  }

  jump(event) {
    const {left, width} = byId("curve").getBoundingClientRect();
    this.go(Math.round(((event.clientX - left) / width) * this.ends));
  }

  show(number, ends) {
    const words = this.answer?.thoughts[number];
    this.ends = Math.max(ends, 1);
    byId("thoughts").hidden = !words;
    byId("thoughts").innerHTML = words ?? "";
    byId("curve")?.setAttribute("viewBox", `0 0 ${this.ends} 100`); // as wide as the slider, though it may be of fewer actions
    byId("here")?.setAttribute("transform", `translate(${number})`);
  }

  forget() {
    this.answer = null;
    byId("curve-place").replaceChildren();
    byId("thoughts").hidden = byId("worst").hidden = true;
    log.judge([], {});
  }
}

// Each leads to the position before the choice, where the likeliest actions stand.
function showWorst({worst, marks}, go) {
  const buttons = worst.map(({number, turn, cost}) => made("button", {title: marks[number + 1], onclick: () => go(number)},
    made("span", {text: `turn ${turn}`}), made("small", {text: ` −${cost}`})));
  byId("worst").replaceChildren(made("span", {text: "Worst:"}), ...buttons);
  byId("worst").hidden = !worst.length;
}
