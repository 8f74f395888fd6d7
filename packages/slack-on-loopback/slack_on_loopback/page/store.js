// Everything the page knows, and how live events change it. Views listen, nothing draws here.

/** The key of a list of messages: a channel, or one thread in it. */
export function listKey(channel, threadTs) {
  return threadTs ? `${channel}/${threadTs}` : channel;
}

/** Is this a reply in a thread (not its root)? */
export function isReply(message) {
  return Boolean(message.thread_ts) && message.thread_ts !== message.ts;
}

/** State plus listeners: `on(name, fn)` for "row", "list", "pins", "channels", "app", "unread", "home". */
export class Store {
  team = null;
  me = "";
  users = new Map();
  channels = new Map();
  app = {};
  emoji = {};
  lists = new Map();
  pins = new Map();
  unread = new Map();
  home = null;
  active = "";
  #listeners = new Map();
  #loads = new Set();
  #shown = new Map();
  #begun = 0;

  /** Calls fn on every event of that name; returns how to stop. */
  on(name, fn) {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set.add(fn));
    return () => set.delete(fn);
  }

  #emit(name, detail) {
    for (const fn of this.#listeners.get(name) ?? []) fn(detail);
  }

  /** Takes the answer of /page/api/state. */
  loadState(state) {
    this.team = state.team;
    this.me = state.me;
    this.users = byId(state.users);
    this.emoji = state.emoji;
    this.#setChannels(state.channels);
    this.#setApp(state.app);
  }

  /** Fetches a channel or thread. Live events may overtake the answer: they are applied again. */
  async load(key, fetchAnswer) {
    const meanwhile = [];
    const number = (this.#begun += 1);
    this.#loads.add(meanwhile);
    try {
      const answer = await fetchAnswer();
      if (number > (this.#shown.get(key) ?? 0)) this.#show(key, number, answer);
    } finally {
      this.#loads.delete(meanwhile);
    }
    for (const event of meanwhile) this.#again[event.type]?.(event);
  }

  #show(key, number, { messages, pins }) {
    this.#shown.set(key, number);
    this.lists.set(key, new Map(messages.map((message) => [message.ts, message])));
    this.#emit("list", key);
    if (pins) this.setPins(key, pins);
  }

  setPins(channel, pins) {
    this.pins.set(channel, pins);
    this.#emit("pins", channel);
  }

  /** Which channel is on screen: it has no unread messages. */
  setActive(channel) {
    this.active = channel;
    if (this.unread.delete(channel)) this.#emit("unread", channel);
  }

  /** A message by place, from any list that has it. */
  find(channel, ts) {
    for (const [key, list] of this.lists) {
      if (key.split("/")[0] === channel && list.has(ts)) return list.get(ts);
    }
    return undefined;
  }

  /** Applies one live event; unknown types are not for the store. */
  apply(event) {
    for (const meanwhile of this.#loads) meanwhile.push(event);
    this.#handlers[event.type]?.(event);
  }

  #handlers = {
    message: ({ message }) => this.#added(message),
    message_changed: ({ message }) => this.#put(message),
    message_deleted: ({ channel, ts }) => this.#remove(channel, ts),
    ephemeral: ({ message }) => this.#put(message),
    pins: ({ channel, pins }) => this.setPins(channel, pins),
    channels: ({ channels }) => this.#setChannels(channels),
    app: ({ app }) => this.#setApp(app),
    home: ({ view }) => this.setHome(view),
  };

  // A message that is applied twice is counted as unread once.
  #again = { ...this.#handlers, message: ({ message }) => this.#put(message) };

  setHome(view) {
    this.home = view;
    this.#emit("home");
  }

  #setChannels(channels) {
    this.channels = byId(channels);
    this.#emit("channels");
  }

  #setApp(app) {
    this.app = app;
    this.#emit("app");
  }

  #added(message) {
    this.#put(message);
    if (!keysOf(message).includes(message.channel)) return;
    if (message.channel === this.active || message.user === this.me) return;
    this.unread.set(message.channel, (this.unread.get(message.channel) ?? 0) + 1);
    this.#emit("unread", message.channel);
  }

  #put(message) {
    for (const key of keysOf(message)) {
      const list = this.lists.get(key);
      if (!list) continue;
      list.set(message.ts, message);
      this.#emit("row", { key, message });
    }
  }

  #remove(channel, ts) {
    for (const [key, list] of this.lists) {
      if (key.split("/")[0] !== channel || !list.delete(ts)) continue;
      this.#emit("row", { key, message: { channel, ts }, isRemoved: true });
    }
  }
}

// A root stands in its channel and heads its thread; a broadcast reply stands in both.
function keysOf(message) {
  const thread = listKey(message.channel, message.thread_ts ?? message.ts);
  if (isReply(message) && message.subtype !== "thread_broadcast") return [thread];
  return [message.channel, thread];
}

function byId(items) {
  return new Map(items.map((item) => [item.id, item]));
}

/** Orders Slack ts strings, which all have the same length. */
export function compareTs(a, b) {
  return a < b ? -1 : Number(a > b);
}
