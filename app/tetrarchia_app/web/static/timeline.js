// Which position is shown: what the server sends waits in line and is shown at the pace chosen; one can go back meanwhile.
import {byId} from "./elements.js";
import * as board from "./board.js";
import * as log from "./log.js";

const REST = 60; // milliseconds between two questions: the server lets a page go that asks more than twenty times a second

export class Timeline {
  constructor(send, changed) {
    this.send = send;
    this.changed = changed; // called when another position is shown
    this.views = new Map(); // positions by number of actions
    this.line = []; // what is still to be shown, in order
    this.last = 0; // the newest position that the server told of
    this.shown = 0;
    this.drawn = null;
    this.paused = false;
    this.alone = false; // only agents play: they wait until somebody wants to see more
    this.isOver = false;
    this.wanted = -1; // a position that is to be shown as soon as it is here
    this.resting = 0;
    this.timer = 0;
    this.isAsked = false;
  }

  get pace() { return Number(byId("pace").value); }
  get isNow() { return this.shown === this.last && this.isTold; }
  get isTold() { return this.line.length === 0; } // nothing that happened waits to be shown
  get ends() { return log.count() - 1; } // the newest position in the log: later ones wait in line

  begin(entries) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.line = [];
    this.views.clear();
    log.restart(entries, (number) => this.go(number));
    this.last = this.shown = this.wanted = entries.length - 1;
  }

  position(number, view) {
    board.learn(view);
    this.views.set(number, view);
    if (number === this.wanted) this.show(number);
  }

  undone(number, view) {
    this.skip();
    board.learn(view);
    for (const later of [...this.views.keys()]) if (later > number) this.views.delete(later);
    this.views.set(number, view);
    log.shorten(number + 1);
    this.last = number;
    this.show(number);
  }

  moved({number, entry, steps}) {
    for (const {view} of steps) board.learn(view);
    this.views.set(number, steps.at(-1).view);
    steps.forEach((step, k) => this.line.push({number, step, entry: k === 0 ? entry : null}));
    this.last = number;
    if (this.isAsked && this.paused) while (this.line.length) this.step();
    else if (!this.timer) this.advance();
    this.isAsked = false;
  }

  advance() {
    this.timer = 0;
    if (this.paused || this.shown !== this.ends) return this.changed();
    const next = this.line.shift();
    if (!next) return this.ask();
    this.tell(next);
    this.shown = next.number;
    board.draw(next.step.view, this.drawn);
    board.showDice(next.step.fallen, next.step.lines);
    this.drawn = next.step.view;
    this.mark();
    this.wait();
  }

  wait() {
    const isLast = this.line.length === 0;
    if (this.pace === 0 && !isLast) this.advance();
    else this.timer = setTimeout(() => this.advance(), isLast && !this.alone ? 0 : Math.max(this.pace, this.alone ? REST : 0));
  }

  tell({number, step, entry}) {
    if (entry) log.add(entry, step.lines, (asked) => this.go(asked));
    else log.say(number, step.lines);
    log.announce(step.lines);
  }

  ask() {
    if (this.alone && !this.isOver && !this.paused) this.send("on", {number: this.last});
    this.changed();
  }

  skip() {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const next of this.line.splice(0)) this.tell(next);
  }

  now() {
    this.skip();
    this.go(this.last);
  }

  go(number) {
    this.skipCurrent();
    const goal = Math.min(Math.max(number, 0), this.ends);
    this.wanted = goal;
    if (this.views.has(goal)) this.show(goal);
    else if (!this.resting) this.look();
  }

  look() {
    const asked = this.wanted;
    this.send("look", {number: asked});
    this.resting = setTimeout(() => {
      this.resting = 0;
      if (this.wanted !== asked && !this.views.has(this.wanted)) this.look();
    }, REST);
  }

  skipCurrent() {
    while (this.line.length && !this.line[0].entry) this.tell(this.line.shift()); // the rest of an action that is half told
  }

  show(number) {
    this.shown = this.wanted = number;
    const view = this.views.get(number);
    board.draw(view, this.views.get(number - 1) ?? view);
    board.showDice([], []);
    this.drawn = view;
    this.mark();
    this.changed();
    if (number === this.ends && this.line.length && !this.timer) this.wait();
  }

  mark() {
    const slider = byId("slider"), most = Math.max(this.ends, 0);
    slider.max = most;
    slider.value = this.shown;
    slider.setAttribute("aria-valuetext", `action ${this.shown} of ${most}`);
    byId("count").textContent = `${this.shown} / ${most}`;
    log.mark(this.shown);
    this.changed();
  }

  on() {
    if (this.shown < this.ends) this.go(this.shown + 1);
    else if (this.line.length) this.step();
    else if (this.alone && !this.isOver) this.want();
  }

  want() {
    this.isAsked = true; // one action more, though paused
    this.send("on", {number: this.last});
  }

  step() {
    const paused = this.paused;
    clearTimeout(this.timer);
    this.paused = false;
    this.advance();
    this.paused = paused;
    if (paused) { clearTimeout(this.timer); this.timer = 0; }
  }

  turn(way) {
    const here = log.turnOf(this.shown);
    let number = this.shown;
    do number += way; while (number > 0 && number < this.ends && log.turnOf(number) === here);
    if (number > this.ends && way > 0) return this.on();
    this.go(number);
  }

  toggle() {
    this.pause(!this.paused);
    if (!this.paused) {
      if (this.shown !== this.ends) this.go(this.ends);
      clearTimeout(this.timer);
      this.advance();
    }
  }

  pause(paused) {
    this.paused = paused;
    document.body.classList.toggle("playing", !paused);
    byId("play").setAttribute("aria-label", paused ? "Go on" : "Pause");
  }
}
