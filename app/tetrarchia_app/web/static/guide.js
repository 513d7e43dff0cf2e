// The guided first turn of a new player: five steps, each with the part of the page it is about. It never blocks the game.
import {byId, element} from "./dom.js";

const STORED = "guide"; // in localStorage: "done" after the last step, or when skipped
const STEPS = [
  {
    title: "The goal", target: "#view",
    text: "You and the other three Emperors win together: put a token on each of the six borders, the forts I to VI around the map. You lose if an army enters ROMA, or if the reserve of Unrest or Revolts runs out.",
  },
  {
    title: "Your choices", target: "#choices",
    text: "The rings on the map and the list show the same choices: click either. First place the fleets and arrive on the board. Nothing is final until dice are rolled: Undo takes an action back.",
  },
  {
    title: "Imperivm Points", target: "#turn-bar",
    text: "Each turn you have 6 IP. A move costs 1 IP over a link and 2 IP over a broken (dashed) link; each ring shows its cost. Move toward a black Revolt or a gray Unrest.",
  },
  {
    title: "Order and tokens", target: "#choices",
    text: "On a Revolt or Unrest, subdue it. On an empty space, secure it with a token: it is then safe from the dice. A border can be secured when its region has no Revolt. Attack an army next to you: the odds are shown first.",
  },
  {
    title: "The end of the turn", target: "#end-turn",
    text: "End the turn when you are done. Unrest next to a Revolt becomes a Revolt, dice put new trouble on the map, and the armies march along the arrows to ROMA. Do not stay on a Revolt. Rules, at the top, explains everything.",
  },
];

export class Guide {
  constructor() {
    this.step = localStorage.getItem(STORED) === "done" ? STEPS.length : 0;
    this.shown = -1; // the step shown
    this.position = null; // of the last own decision
    this.turn = null;
  }

  // Called with every change of the decision; `decision` is null while it is not the player's.
  update(decision, turn) {
    if (this.step >= STEPS.length) return;
    if (this.step === STEPS.length - 1 && this.turn !== null && turn !== this.turn) return this.finish();
    if (!decision) return;
    if (this.position !== null && decision.position > this.position) this.afterAction(decision);
    this.position = decision.position;
    this.turn = turn;
    this.show();
  }

  // A step ends when the player has done what it explains, or presses Next.
  afterAction({phase, ip}) {
    const [goal, choices, points, tokens] = [0, 1, 2, 3], before = this.step;
    if (this.step === goal) this.step = choices;
    if (this.step === choices && phase === "roman") this.step = points;
    if (this.step === points && ip < 6) this.step = tokens;
    else if (before === tokens) this.step += 1;
  }

  show() {
    if (this.shown === this.step) return;
    this.shown = this.step;
    const {title, text, target} = STEPS[this.step], isLast = this.step === STEPS.length - 1;
    const next = element("button", {class: "confirm", text: isLast ? "Done" : "Next", onclick: () => { this.step += 1; this.advance(); }});
    const skip = element("button", {text: "Skip", onclick: () => this.finish()});
    byId("guide").replaceChildren(element("h2", {text: `${this.step + 1} of ${STEPS.length}: ${title}`}), element("p", {text}),
      element("div", {class: "tools"}, next, ...(isLast ? [] : [skip])));
    byId("guide").hidden = false;
    mark(target);
  }

  advance() {
    if (this.step >= STEPS.length) return this.finish();
    this.show();
    byId("guide").querySelector("button").focus();
  }

  finish() {
    this.step = STEPS.length;
    localStorage.setItem(STORED, "done");
    byId("guide").hidden = true;
    mark(null);
  }

  restart() {
    localStorage.removeItem(STORED);
    this.step = 0;
    this.turn = this.position = null;
    this.shown = -1;
    this.show();
  }
}

function mark(target) {
  for (const marked of document.querySelectorAll(".guided")) marked.classList.remove("guided");
  if (target) document.querySelector(target).classList.add("guided");
}
