// The WebSocket of live events: reconnects by itself and says how it is doing.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/** One connection that heals; `start()` once. */
export class Live {
  #socket = null;
  #timer = 0;
  #wait = FIRST_WAIT;
  #wasOpen = false;

  /**
   * @param {() => string} url address, asked anew for every attempt
   * @param {{event: Function, up: Function, down: Function}} on `up(again)` on connecting, `down(milliseconds)` before waiting
   */
  constructor(url, on) {
    this.url = url;
    this.on = on;
  }

  /** Connects now, also when a later attempt was planned. */
  start() {
    clearTimeout(this.#timer);
    this.#drop();
    const socket = new WebSocket(this.url());
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("message", (message) => this.on.event(JSON.parse(message.data)));
    socket.addEventListener("close", () => this.#closed(socket));
    this.#socket = socket;
  }

  #drop() {
    const old = this.#socket;
    this.#socket = null;
    old?.close();
  }

  #opened() {
    this.#wait = FIRST_WAIT;
    this.on.up(this.#wasOpen);
    this.#wasOpen = true;
  }

  #closed(socket) {
    if (socket !== this.#socket) return;
    this.on.down(this.#wait);
    this.#timer = setTimeout(() => this.start(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }
}
