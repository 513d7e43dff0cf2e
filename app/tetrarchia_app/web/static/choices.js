// What the person may do: a list of buttons with keys, the same on the map, and a card for what cannot be taken back.
import {byId, capital, made} from "./elements.js";
import * as board from "./board.js";

const KEYS = {end: "e", secure: "s", subdue: "d", calm: "c", imperivm: "i", boost: "b", block: "k", accept: "a", take: "t", give: "g"};
const WORDS = {
  end: "End the turn", secure: "Secure this space", subdue: "Subdue the Revolt here", calm: "Calm the Unrest here", imperivm: "Use your power", boost: "Add 1",
  block: "Block the army", accept: "Let it be", take: "Take 1 IP from Galerius", give: "Give 1 IP to Maximian",
};
const PATTERNS = [
  [/^move (.+)$/, "Move to $1"], [/^attack PIRATES$/, "Attack the Pirates"], [/^attack (.+)$/, "Attack $1"], [/^fleet (.+)$/, "Place a fleet in $1"],
  [/^sail (\S+) (\S+)$/, "Sail from $1 to $2"], [/^dux deploy (.+)$/, "Deploy the Dux in $1"], [/^dux attack PIRATES$/, "Dux: attack the Pirates"],
  [/^dux (move|attack) (.+)$/, "Dux: $1 $2"], [/^dux (subdue|calm)$/, "Dux: $1 here"], [/^order (\w+) (.+)$/, "Order $1 to $2"],
];
const rank = ({action, place, combat}) => (action === "end" ? 1 : !place ? 0 : combat ? 2 : 3);

export function label(choice) {
  if (choice.action.startsWith("enter ")) return `Arrive in ${choice.place}`;
  if (choice.action in WORDS) return WORDS[choice.action];
  const found = PATTERNS.find(([pattern]) => pattern.test(choice.action));
  return found ? choice.action.replace(found[0], found[1]) : capital(choice.action);
}

export class Choices {
  constructor(play) {
    this.play = play;
    this.offered = [];
    this.opened = null; // the combat on the card: its chains stay in sight
  }

  preview(combat) {
    board.showChains(combat ?? this.opened);
  }

  show(decision) {
    const hadFocus = byId("decide").contains(document.activeElement);
    this.close();
    this.offered = (decision ?? []).map((choice) => ({...choice, label: label(choice)}));
    this.offered.sort((one, other) => rank(one) - rank(other));
    let digit = 0;
    for (const choice of this.offered) choice.key = KEYS[choice.action] ?? (digit < 9 ? String(++digit) : "");
    byId("choices").replaceChildren(...this.offered.map((choice) => this.item(choice)));
    board.showTargets(this.offered, (found) => this.pick(found), (choice) => this.preview(choice?.combat ?? null));
    if (hadFocus) (byId("choices").querySelector("button") ?? byId("decide-title")).focus();
  }

  item(choice) {
    const words = [choice.cost, choice.combat ? odds(choice.combat) : ""].filter(Boolean).join(", ");
    const button = made("button", {"data-action": choice.action, class: choice.combat ? "combat" : choice.place ? "" : "plain", onclick: () => this.pick([choice])},
      made("span", {class: "what", text: choice.label}), made("small", {text: words}));
    if (choice.key) button.append(made("kbd", {text: choice.key.toUpperCase(), "aria-hidden": "true"}));
    for (const name of ["focus", "pointerenter"]) button.addEventListener(name, () => this.preview(choice.combat));
    for (const name of ["blur", "pointerleave"]) button.addEventListener(name, () => this.preview(null));
    return made("li", {}, button);
  }

  pick(found) {
    if (found.length === 1 && !found[0].combat) this.play(found[0].action);
    else this.open(found);
  }

  open(found) {
    const card = byId("card"), combat = found.find((choice) => choice.combat)?.combat;
    const buttons = found.map((choice) => made("button", {class: "do", "data-do": choice.action, onclick: () => this.play(choice.action)},
      made("span", {text: choice.label}), made("small", {text: choice.cost})));
    card.replaceChildren(...(combat ? describe(combat) : []), made("div", {class: "tools"}, ...buttons, made("button", {id: "not-now", text: "Not now", onclick: () => this.close(true)})));
    card.hidden = false;
    this.opened = combat ?? null;
    this.preview(null);
    buttons[0].focus();
  }

  close(keepFocus = false) {
    if (byId("card").hidden) return false;
    byId("card").hidden = true;
    this.opened = null;
    this.preview(null);
    if (keepFocus) byId("choices").querySelector("button")?.focus();
    return true;
  }

  key(key) {
    const choice = this.offered.find((one) => one.key === key);
    if (choice) this.pick([choice]);
    return Boolean(choice);
  }

  walk(way) {
    const buttons = [...byId("choices").querySelectorAll("button")], here = buttons.indexOf(document.activeElement);
    if (buttons.length) buttons[(here + way + buttons.length) % buttons.length].focus();
    return buttons.length > 0;
  }
}

const share = (ways) => `${Math.round((100 * ways) / 36)}%`;
export const odds = ({win, draw, loss}) => `win ${share(win)}, draw ${share(draw)}, loss ${share(loss)}`;

function describe(combat) {
  const bar = made("div", {class: "odds", role: "img", "aria-label": odds(combat)});
  for (const kind of ["win", "draw", "loss"]) if (combat[kind]) bar.append(made("span", {class: `${kind} w${combat[kind]}`, text: share(combat[kind])}));
  return [bar, made("p", {text: side("Rome", combat.roman, "its chain", "beside the foe")}), made("p", {text: side("The foe", combat.barbarian, "its chain of Revolts", "beside him")})];
}

function side(who, {adds, doubled, chain}, what, where) {
  const tokens = chain.length ? `${adds} for ${what} (${chain.join(", ")})` : String(adds);
  const times = doubled ? `, doubled ${doubled === 1 ? "once" : `${doubled} times`} for those ${where}` : "";
  return `${who}: a die + ${tokens}${times}.`;
}
