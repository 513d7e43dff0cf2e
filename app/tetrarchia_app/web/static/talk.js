// The talk with the server: messages both ways, and a new attempt when the line is lost.
const ENDED = {4001: "This seat was opened in another window; this one only shows what was.", 1008: "The server let this page go. Load it again to come back."};
const LONGEST = 8000; // milliseconds between two attempts

export function talk(obey, tell) {
  let socket = null, wait = 500;

  function open() {
    const address = new URL(`${location.pathname}/talk`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(address);
    socket.addEventListener("open", () => { wait = 500; tell(""); });
    socket.addEventListener("message", ({data}) => JSON.parse(data).forEach(obey));
    socket.addEventListener("close", ({code}) => closed(code));
  }

  function closed(code) {
    if (code in ENDED) return tell(ENDED[code]);
    tell("The line to the server is lost; trying again…");
    setTimeout(open, wait);
    wait = Math.min(2 * wait, LONGEST);
  }

  open();
  return (type, values = {}) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify({type, ...values}));
}
