// WebSocket connection to the server; reconnects when it is lost.
const FINAL_CODES = {
  4001: "This seat was opened in another window; this window no longer updates.",
  1008: "Disconnected by the server. Reload the page to reconnect.",
};
const MIN_RETRY_MS = 500, MAX_RETRY_MS = 8000;

// Calls onMessage for each message and onStatus with a text for the player; returns the function that sends a message.
export function connect(onMessage, onStatus) {
  let socket = null, retryDelay = MIN_RETRY_MS;

  function open() {
    const url = new URL(`${location.pathname}/socket`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.addEventListener("open", () => { retryDelay = MIN_RETRY_MS; onStatus(""); });
    socket.addEventListener("message", ({data}) => JSON.parse(data).forEach(onMessage));
    socket.addEventListener("close", ({code}) => onClose(code));
  }

  function onClose(code) {
    if (code in FINAL_CODES) return onStatus(FINAL_CODES[code]);
    onStatus("Connection lost. Reconnecting…");
    setTimeout(open, retryDelay);
    retryDelay = Math.min(2 * retryDelay, MAX_RETRY_MS);
  }

  open();
  return (type, fields = {}) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify({type, ...fields}));
}
