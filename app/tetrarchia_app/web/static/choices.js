// The player's choices: a list of buttons with keys, targets on the map, and a card that confirms what cannot be undone.
import {byId, capitalize, element} from "./dom.js";
import * as board from "./board.js";

const KEYS = {end: "e", secure: "s", subdue: "d", calm: "c", imperivm: "i", boost: "b", block: "k", accept: "a", take: "t", give: "g"};
const LABELS = {
  end: "End the turn", secure: "Secure this space", subdue: "Subdue the Unrest or Revolt here", calm: "Calm the Revolt here", imperivm: "Use your power", boost: "Add 1",
  block: "Block the army", accept: "Accept", take: "Take 1 IP from Galerius", give: "Give 1 IP to Maximian",
};
const LABEL_PATTERNS = [
  [/^move (.+)$/, "Move to $1"], [/^attack PIRATES$/, "Attack the Pirates"], [/^attack (.+)$/, "Attack $1"], [/^fleet (.+)$/, "Place a fleet in $1"],
  [/^sail (\S+) (\S+)$/, "Sail from $1 to $2"], [/^dux deploy (.+)$/, "Deploy the Dux in $1"], [/^dux attack PIRATES$/, "Dux: attack the Pirates"],
  [/^dux (move|attack) (.+)$/, "Dux: $1 $2"], [/^dux (subdue|calm)$/, "Dux: $1 here"], [/^order (\w+) (.+)$/, "Order $1 to $2"],
];
const sortKey = ({action, place, combat}) => (action === "end" ? 1 : !place ? 0 : combat ? 2 : 3);

export function actionLabel({action, place}) {
  if (action.startsWith("enter ")) return `Arrive in ${place}`;
  if (action in LABELS) return LABELS[action];
  const found = LABEL_PATTERNS.find(([pattern]) => pattern.test(action));
  return found ? action.replace(found[0], found[1]) : capitalize(action);
}

export class Choices {
  constructor(play) {
    this.play = play;
    this.choices = [];
    this.cardCombat = null; // the combat on the card; its chains stay visible
  }

  previewCombat(combat) {
    board.showChains(combat ?? this.cardCombat);
  }

  show(choices) {
    const hadFocus = byId("decision").contains(document.activeElement);
    this.closeCard();
    this.choices = choices.map((choice) => ({...choice, label: actionLabel(choice)}));
    this.choices.sort((a, b) => sortKey(a) - sortKey(b));
    let digit = 0;
    for (const choice of this.choices) choice.key = KEYS[choice.action] ?? (digit < 9 ? String(++digit) : "");
    byId("choices").replaceChildren(...this.choices.map((choice) => this.listItem(choice)));
    board.showTargets(this.choices, (found) => this.pick(found), (choice) => this.previewCombat(choice?.combat ?? null));
    if (hadFocus) (byId("choices").querySelector("button") ?? byId("decision-title")).focus();
  }

  listItem(choice) {
    const details = [choice.cost, choice.combat ? oddsText(choice.combat) : ""].filter(Boolean).join(", ");
    const kind = choice.combat ? "combat" : choice.place ? "" : "no-place";
    const button = element("button", {"data-action": choice.action, class: kind, onclick: () => this.pick([choice])},
      element("span", {text: choice.label}), element("small", {text: details}));
    if (choice.key) button.append(element("kbd", {text: choice.key.toUpperCase(), "aria-hidden": "true"}));
    for (const name of ["focus", "pointerenter"]) button.addEventListener(name, () => this.previewCombat(choice.combat));
    for (const name of ["blur", "pointerleave"]) button.addEventListener(name, () => this.previewCombat(null));
    return element("li", {}, button);
  }

  pick(choices) {
    if (choices.length === 1 && !choices[0].combat) this.play(choices[0].action);
    else this.openCard(choices);
  }

  openCard(choices) {
    const card = byId("card"), combat = choices.find((choice) => choice.combat)?.combat;
    const buttons = choices.map((choice) => element("button", {class: "confirm", onclick: () => this.play(choice.action)},
      element("span", {text: choice.label}), element("small", {text: choice.cost})));
    const cancel = element("button", {text: "Cancel", onclick: () => this.closeCard(true)});
    card.replaceChildren(...(combat ? combatDetails(combat) : []), element("div", {class: "tools"}, ...buttons, cancel));
    card.hidden = false;
    this.cardCombat = combat ?? null;
    this.previewCombat(null);
    buttons[0].focus();
  }

  closeCard(keepFocus = false) {
    if (byId("card").hidden) return;
    byId("card").hidden = true;
    this.cardCombat = null;
    this.previewCombat(null);
    if (keepFocus) byId("choices").querySelector("button")?.focus();
  }

  onKey(key) {
    const choice = this.choices.find((one) => one.key === key);
    if (choice) this.pick([choice]);
    return Boolean(choice);
  }

  moveFocus(step) {
    const buttons = [...byId("choices").querySelectorAll("button")], index = buttons.indexOf(document.activeElement);
    if (buttons.length) buttons[(index + step + buttons.length) % buttons.length].focus();
  }
}

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
