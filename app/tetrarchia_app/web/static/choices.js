// The player's choices: a list of buttons with keys, targets on the map, the end of the turn, and a card that confirms what cannot be undone.
import {byId, capitalize, element} from "./dom.js";
import * as board from "./board.js";

const KEYS = {end: "e", secure: "s", subdue: "d", calm: "c", imperivm: "i", boost: "b", block: "k", accept: "a", take: "t", give: "g"};
const HINTS = { // by the first word of the action
  end: "The dice are rolled: trouble breaks out, spreads, and the armies march. Then the next Emperor plays.",
  secure: "Put one of your tokens here. It protects a province from the dice and supports you in fights; six secured borders win the game.",
  subdue: "Remove the token: 1 IP for Unrest, 2 IP for a Revolt.",
  calm: "Turn the Revolt into Unrest for 1 IP.",
  move: "1 IP over a link or by fleet along a coast, 2 IP over a broken link, 1 IP more onto a Revolt.",
  attack: "Roll two dice against the army. The card shows the exact odds before anything is rolled.",
  fleet: "A fleet lets every Emperor move between two coasts of its sea zone for 1 IP.",
  sail: "Move a fleet to a neighboring sea zone.",
  enter: "The Emperor enters the board here.",
  imperivm: "Pay one token, which leaves the game.",
  boost: "Pay one token to add 1 to the Roman die.",
  block: "Pay one token: the army stays where it is.",
  accept: "Pay nothing.",
  take: "One IP more now, one less in the next turn of Galerius.",
  give: "One IP less now, one more in the next turn of Maximian.",
  dux: "The Dux is led by the Emperor whose turn it is, with that Emperor's IP.",
  order: "Move another Emperor with your IP.",
  say: "All Emperors hear the token, wherever they are. It has no meaning of its own.",
};
const DEAD_TIME_MS = 350; // a double click on one choice must not choose the one that takes its place
const FULL_IP = 6;
const sortKey = ({action, place, combat}) => (action.startsWith("say ") ? 3 : !place ? 0 : combat ? 1 : 2);
const names = (figures) => figures.map((name) => (name === "dux" ? "The Dux" : capitalize(name))).join(" and ");

export class Choices {
  constructor(play) {
    this.play = play;
    this.choices = [];
    this.ip = null;
    this.cardCombat = null; // the combat on the card; its chains stay visible
    this.readyTimer = 0;
    byId("end-turn").addEventListener("click", (event) => this.pick([this.end], event));
  }

  get end() { return this.choices.find(({action}) => action === "end"); }

  previewCombat(combat) {
    board.showChains(combat ?? this.cardCombat);
  }

  show(choices, ip) {
    const hadFocus = byId("decision").contains(document.activeElement);
    this.closeCard();
    this.ip = ip;
    this.choices = choices.map((choice) => ({...choice})).sort((a, b) => sortKey(a) - sortKey(b));
    let digit = 0;
    for (const choice of this.choices) choice.key = KEYS[choice.action] ?? (digit < 9 ? String(++digit) : "");
    byId("choices").replaceChildren(...this.choices.filter(({action}) => action !== "end").map((choice) => this.listItem(choice)));
    this.showTurnBar();
    this.startDeadTime();
    board.showTargets(this.choices, (found, event) => this.pick(found, event), (choice) => this.previewCombat(choice?.combat ?? null));
    if (hadFocus) (this.buttons[0] ?? byId("decision-title")).focus();
  }

  // IP left and the button that ends the turn keep their place while the list below them changes.
  showTurnBar() {
    byId("turn-bar").hidden = this.ip === null || !this.choices.length;
    byId("end-turn").disabled = !this.end;
    byId("end-turn").title = HINTS.end;
    if (this.ip === null) return;
    const dots = Array.from({length: Math.max(FULL_IP, this.ip)}, (_, index) => element("i", {class: index < this.ip ? "left" : ""}));
    byId("ip").replaceChildren(element("b", {text: `${this.ip} IP`}), element("span", {class: "dots", "aria-hidden": "true"}, ...dots));
  }

  startDeadTime() {
    clearTimeout(this.readyTimer);
    byId("decision").classList.remove("ready");
    this.readyTimer = setTimeout(() => byId("decision").classList.add("ready"), DEAD_TIME_MS);
  }

  get buttons() {
    return [...byId("choices").querySelectorAll("button"), ...(this.end ? [byId("end-turn")] : [])];
  }

  listItem(choice) {
    const details = [choice.cost, choice.combat ? oddsText(choice.combat) : ""].filter(Boolean).join(", ");
    const kind = choice.combat ? "combat" : choice.place ? "" : "no-place";
    const button = element("button", {"data-action": choice.action, class: kind, title: hint(choice), onclick: (event) => this.pick([choice], event)},
      element("span", {text: choice.label}), element("small", {text: details}));
    if (choice.ends_turn) button.append(endMark());
    if (choice.key) button.append(element("kbd", {text: choice.key.toUpperCase(), "aria-hidden": "true"}));
    for (const name of ["focus", "pointerenter"]) button.addEventListener(name, () => this.previewCombat(choice.combat));
    for (const name of ["blur", "pointerleave"]) button.addEventListener(name, () => this.previewCombat(null));
    return element("li", {}, button);
  }

  // Play a choice, or open the card if it needs a confirmation. Clicks with a pointer are ignored during the dead time.
  pick(choices, event = null) {
    if (event?.detail > 0 && !byId("decision").classList.contains("ready")) return;
    if (choices.length === 1 && !this.warnings(choices[0]).length) this.play(choices[0].action);
    else this.openCard(choices);
  }

  pickAction(action, event) {
    const choice = this.choices.find((one) => one.action === action);
    if (choice) this.pick([choice], event);
  }

  warnings(choice) {
    const {action, combat, ends_turn: endsTurn, driven_off: drivenOff, at_risk: atRisk} = choice;
    const texts = [];
    if (combat) {
      texts.push(action.startsWith("dux") ? "If it is lost, the Dux is gone for the rest of the game."
        : "If it is lost, the Emperor is driven off the board and the Roman phase ends.");
    }
    if (action === "end" && this.ip > 0) texts.push(`${this.ip} IP are left and will be lost.`);
    if (drivenOff.length) texts.push(`${names(drivenOff)} will be driven off the board by a Revolt.`);
    if (atRisk.length) texts.push(`${names(atRisk)} may be driven off the board: Unrest there can become a Revolt over a broken link.`);
    if (endsTurn && action !== "end" && texts.length) texts.push("This action ends the turn.");
    return texts;
  }

  openCard(choices) {
    const card = byId("card"), combat = choices.find((choice) => choice.combat)?.combat;
    const confirm = (choice) => (event) => {
      if (event.detail === 0 || byId("decision").classList.contains("ready")) this.play(choice.action);
    };
    const buttons = choices.map((choice) => element("button", {class: "confirm", onclick: confirm(choice)},
      element("span", {text: choice.label}), element("small", {text: choice.cost}), ...(choice.ends_turn && choice.action !== "end" ? [endMark()] : [])));
    const cancel = element("button", {text: "Cancel", onclick: () => this.closeCard(true)});
    const warnings = [...new Set(choices.flatMap((choice) => this.warnings(choice)))];
    card.replaceChildren(...(combat ? combatDetails(combat) : []), ...warnings.map((text) => element("p", {class: "warning", text})),
      element("div", {class: "tools"}, ...buttons, cancel));
    card.hidden = false;
    this.cardCombat = combat ?? null;
    this.previewCombat(null);
    this.startDeadTime();
    buttons[0].focus();
  }

  closeCard(keepFocus = false) {
    if (byId("card").hidden) return;
    byId("card").hidden = true;
    this.cardCombat = null;
    this.previewCombat(null);
    if (keepFocus) this.buttons[0]?.focus();
  }

  onKey(key) {
    const choice = this.choices.find((one) => one.key === key);
    if (choice) this.pick([choice]);
    return Boolean(choice);
  }

  moveFocus(step) {
    const buttons = this.buttons, index = buttons.indexOf(document.activeElement);
    if (buttons.length) buttons[(index + step + buttons.length) % buttons.length].focus();
  }
}

const hint = ({action}) => HINTS[action.split(" ")[0]] ?? "";
const endMark = () => element("small", {class: "ends-turn", text: "ends the turn"});
const oddsPercent = (outcomes) => `${Math.round((100 * outcomes) / 36)}%`; // of the 36 outcomes of two dice
const oddsText = ({win, draw, loss}) => `win ${oddsPercent(win)}, draw ${oddsPercent(draw)}, loss ${oddsPercent(loss)}`;

function combatDetails(combat) {
  const bar = element("div", {class: "odds", role: "img", "aria-label": oddsText(combat)});
  for (const kind of ["win", "draw", "loss"]) {
    const part = element("span", {class: kind, text: oddsPercent(combat[kind])});
    part.style.flexGrow = combat[kind];
    if (combat[kind]) bar.append(part);
  }
  return [bar,
    element("p", {text: sideText("Rome", combat.roman, "its chain", "other figures next to the enemy")}),
    element("p", {text: sideText("Enemy", combat.barbarian, "its chain of Revolts", "other armies next to the figure")})];
}

function sideText(name, {adds, doubled, chain}, source, doubledBy) {
  const support = chain.length ? `${adds} from ${source} (${chain.join(", ")})` : String(adds);
  const times = doubled ? `, doubled ${doubled === 1 ? "once" : `${doubled} times`} by ${doubledBy}` : "";
  return `${name}: die + ${support}${times}.`;
}
