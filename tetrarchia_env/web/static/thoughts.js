// What an agent thinks: the coach's advice for a decision, and the analysis of the whole game.
import {byId, made, percent} from "./elements.js";
import {label} from "./choices.js";

const signed = (change) => `${change >= 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)} %`;

export function showCoach(advice, offered, play) {
  const rows = advice.map(({text, probability, chance, change}) => {
    const choice = offered.find((one) => one.action === text) ?? {action: text, place: ""};
    return made("li", {}, made("button", {"data-advice": text, onclick: () => play(text)}, made("span", {class: "what", text: label(choice)}),
      made("small", {text: `likes it ${percent(probability)}; chance to win ${percent(chance)} (${signed(change)})`})));
  });
  byId("coach").replaceChildren(made("h3", {text: "The coach would"}), made("ol", {}, ...rows));
  byId("coach").hidden = false;
}

export function hideCoach() {
  byId("coach").hidden = true;
}

// Of the whole game: the curve over the slider, and for the position shown what is likely there. Drawn and worded by the server.
export class Analysis {
  constructor(go) {
    this.go = go;
    this.answer = null;
  }

  take(answer, log) {
    this.answer = answer;
    byId("curve-place").innerHTML = answer.curve;
    byId("curve")?.addEventListener("click", (event) => {
      const {left, width} = byId("curve").getBoundingClientRect();
      this.go(Math.round(((event.clientX - left) / width) * (answer.thoughts.length - 1)));
    });
    answer.marks.forEach((words, number) => words && log.blame(number, words));
  }

  show(number) {
    const words = this.answer?.thoughts[number];
    byId("thoughts").hidden = !words;
    if (!words) return;
    byId("thoughts").innerHTML = words;
    byId("here")?.setAttribute("transform", `translate(${number})`);
  }

  forget() {
    if (!this.answer) return;
    this.answer = null;
    byId("curve-place").replaceChildren();
    byId("thoughts").hidden = true;
  }
}
