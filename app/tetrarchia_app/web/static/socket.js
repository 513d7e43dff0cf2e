// WebSocket connection to the server; reconnects when it is lost, and limits the rate of messages.
const FINAL_CODES = {
  4001: "This seat was opened in another window; this window no longer updates.",
  1008: "Disconnected by the server. Reload the page to reconnect.",
};
const LOST = "Connection lost. Reconnecting… The game is kept; your choices can be used again when the connection is back.";
const MIN_RETRY_MS = 500, MAX_RETRY_MS = 8000;
const RATE_PER_S = 12, BURST = 20; // the server disconnects a page after 60 messages at once or more than 20 per second

// Calls onMessage for each message and onStatus with a text for the player. Returns {send, isOpen}. Messages above the rate wait;
// of several waiting messages of one type only the last is sent, e.g. the last of the positions that a held key passes.
export function connect(onMessage, onStatus) {
  let socket = null, retryDelay = MIN_RETRY_MS;
  let allowance = BURST, lastSent = 0, timer = 0;
  const waiting = new Map(); // by type

  function open() {
    const url = new URL(`${location.pathname}/socket`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.addEventListener("open", () => { retryDelay = MIN_RETRY_MS; onStatus(""); });
    socket.addEventListener("message", ({data}) => JSON.parse(data).forEach(onMessage));
    socket.addEventListener("close", ({code}) => onClose(code));
  }

  function onClose(code) {
    waiting.clear();
    if (code in FINAL_CODES) return onStatus(FINAL_CODES[code]);
    onStatus(LOST);
    setTimeout(open, retryDelay);
    retryDelay = Math.min(2 * retryDelay, MAX_RETRY_MS);
  }

  function flush() {
    timer = 0;
    const now = performance.now();
    allowance = Math.min(BURST, allowance + (RATE_PER_S * (now - lastSent)) / 1000);
    lastSent = now;
    for (const [type, message] of waiting) {
      if (allowance < 1) {
        timer = setTimeout(flush, 1000 / RATE_PER_S);
        return;
      }
      waiting.delete(type);
      allowance -= 1;
      if (isOpen()) socket.send(JSON.stringify(message));
    }
  }

  const isOpen = () => socket.readyState === WebSocket.OPEN;

  open();
  return {
    isOpen,
    send(type, fields = {}) {
      if (!isOpen()) return;
      waiting.set(type, {type, ...fields});
      if (!timer) flush();
    },
  };
}
