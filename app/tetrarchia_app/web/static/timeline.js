// The position shown: actions from the server are queued and shown at the chosen pace; the player can go back meanwhile.
import {byId} from "./dom.js";
import * as board from "./board.js";
import * as log from "./log.js";

const REQUEST_INTERVAL_MS = 60, MIN_PLAYBACK_MS = 120; // per action that agents play, and per earlier action that is played back

export class Timeline {
  constructor(send, onChange) {
    this.send = send;
    this.onChange = onChange; // called when another position is shown
    this.views = new Map(); // by position
    this.queue = []; // steps that are still to be shown, in order
    this.last = 0; // the newest position
    this.shown = 0;
    this.drawnView = null;
    this.paused = false;
    this.agentsOnly = false; // agents then wait until a spectator wants to see the next action
    this.isOver = false;
    this.wanted = -1; // the position to show when it arrives
    this.requestTimer = 0;
    this.timer = 0;
    this.isSingleStep = false; // one action was requested while paused
  }

  get pace() { return Number(byId("pace").value); }
  get isCaughtUp() { return this.queue.length === 0; }
  get isNewest() { return this.shown === this.last && this.isCaughtUp; }
  get lastLogged() { return log.count() - 1; } // later positions are queued
  get isPlayingBack() { return !this.paused && this.shown < this.lastLogged; }

  // Messages from the server

  start(entries) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.queue = [];
    this.views.clear();
    log.restart(entries, (position) => this.goTo(position));
    this.last = this.shown = this.wanted = entries.length - 1;
    if (!this.agentsOnly) this.setPaused(false);
  }

  setOver(isOver) {
    this.isOver = isOver;
    if (isOver && this.isNewest) this.setPaused(true);
  }

  onPosition({position, view}) {
    board.addDrawings(view);
    this.views.set(position, view);
    if (position !== this.wanted) return;
    this.show(position);
    if (this.isPlayingBack) this.scheduleNext();
  }

  onUndone({position, view}) {
    this.skipQueue();
    board.addDrawings(view);
    for (const later of [...this.views.keys()]) if (later > position) this.views.delete(later);
    this.views.set(position, view);
    log.truncate(position + 1);
    this.last = position;
    if (!this.agentsOnly) this.setPaused(false);
    this.show(position);
  }

  onAction({position, entry, steps}) {
    for (const {view} of steps) board.addDrawings(view);
    this.views.set(position, steps.at(-1).view);
    steps.forEach((step, index) => this.queue.push({position, step, entry: index === 0 ? entry : null}));
    this.last = position;
    if (this.isSingleStep && this.paused) while (this.queue.length) this.showQueuedStep();
    else if (!this.timer) this.showNext();
    this.isSingleStep = false;
  }

  // The queue

  showNext() {
    this.timer = 0;
    if (this.paused) return this.onChange();
    if (this.shown < this.lastLogged) return this.playBack();
    if (this.isOver && this.isCaughtUp) this.setPaused(true);
    const next = this.queue.shift();
    if (!next) {
      if (this.agentsOnly && !this.isOver && !this.paused) this.send("advance", {position: this.last});
      return this.onChange();
    }
    this.addToLog(next);
    this.shown = next.position;
    board.draw(next.step.view, this.drawnView);
    board.showDice(next.step.dice, next.step.lines);
    this.drawnView = next.step.view;
    this.updateControls();
    this.scheduleNext();
  }

  // Earlier positions are played back from the one shown; those that the page does not have arrive in onPosition.
  playBack() {
    this.wanted = this.shown + 1;
    if (!this.views.has(this.wanted)) return this.requestWanted();
    this.show(this.wanted);
    this.scheduleNext();
  }

  scheduleNext() {
    clearTimeout(this.timer);
    if (this.isPlayingBack) {
      this.timer = setTimeout(() => this.showNext(), Math.max(this.pace, MIN_PLAYBACK_MS));
      return;
    }
    const isLast = this.queue.length === 0;
    if (this.pace === 0 && !isLast) this.showNext();
    else this.timer = setTimeout(() => this.showNext(), isLast && !this.agentsOnly ? 0 : Math.max(this.pace, this.agentsOnly ? REQUEST_INTERVAL_MS : 0));
  }

  showQueuedStep() {
    const paused = this.paused;
    clearTimeout(this.timer);
    this.paused = false;
    this.showNext();
    this.paused = paused;
    if (paused) { clearTimeout(this.timer); this.timer = 0; }
  }

  addToLog({position, step, entry}) {
    if (entry) log.addEntry(entry, step.lines, (target) => this.goTo(target));
    else log.addLines(position, step.lines);
    log.announce(step.lines);
  }

  skipQueue() {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const next of this.queue.splice(0)) this.addToLog(next);
  }

  // Navigation by the player: leaving the newest position pauses, and returning to it shows new actions again.

  goTo(position) {
    clearTimeout(this.timer);
    this.timer = 0;
    if (position < this.lastLogged) this.setPaused(true);
    else if (!this.agentsOnly && !this.isOver) this.setPaused(false);
    while (this.queue.length && !this.queue[0].entry) this.addToLog(this.queue.shift()); // the rest of a partly shown action
    this.wanted = Math.min(Math.max(position, 0), this.lastLogged);
    if (this.views.has(this.wanted)) this.show(this.wanted);
    else if (!this.requestTimer) this.requestWanted();
  }

  requestWanted() {
    const requested = this.wanted;
    this.send("get_position", {position: requested});
    this.requestTimer = setTimeout(() => {
      this.requestTimer = 0;
      if (this.wanted !== requested && !this.views.has(this.wanted)) this.requestWanted();
    }, REQUEST_INTERVAL_MS);
  }

  goToNewest() {
    this.skipQueue();
    this.goTo(this.last);
  }

  next() {
    if (this.shown < this.lastLogged) this.goTo(this.shown + 1);
    else if (this.queue.length) this.showQueuedStep();
    else if (this.agentsOnly && !this.isOver) {
      this.isSingleStep = true;
      this.send("advance", {position: this.last});
    }
  }

  changeTurn(step) {
    const turn = log.turnOf(this.shown);
    let position = this.shown;
    do position += step; while (position > 0 && position < this.lastLogged && log.turnOf(position) === turn);
    if (position > this.lastLogged && step > 0) return this.next();
    this.goTo(position);
  }

  togglePlay() {
    this.setPaused(!this.paused);
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.paused && this.isOver && this.isNewest && this.last > 0) { // once more from the beginning
      this.wanted = 0;
      if (this.views.has(0)) this.show(0);
      else return this.requestWanted();
      this.scheduleNext();
    } else if (!this.paused) this.showNext();
  }

  setPaused(paused) {
    this.paused = paused;
    document.body.classList.toggle("playing", !paused);
    byId("play").setAttribute("aria-label", paused ? "Play" : "Pause");
  }

  // Drawing

  show(position) {
    this.shown = this.wanted = position;
    const view = this.views.get(position);
    board.draw(view, this.views.get(position - 1) ?? view);
    board.showDice([], []);
    this.drawnView = view;
    this.updateControls();
    if (position === this.lastLogged && this.queue.length && !this.timer && !this.paused) this.scheduleNext();
  }

  updateControls() {
    const slider = byId("slider"), max = Math.max(this.lastLogged, 0);
    slider.max = max;
    slider.value = this.shown;
    slider.setAttribute("aria-valuetext", `action ${this.shown} of ${max}`);
    byId("count").textContent = `${this.shown} / ${max}`;
    log.setCurrent(this.shown);
    this.onChange();
  }
}
