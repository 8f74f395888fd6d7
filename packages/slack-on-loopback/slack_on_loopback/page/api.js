// Calls the workspace's own JSON interface (/page/api/*) as one user.

/** What the server refused, in words for people. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const WORDS = {
  unreachable: "The workspace does not answer. Is it still running?",
  unreadable: "The workspace sent an answer this page cannot read.",
};

/** The interface for one user; every method returns the answer or throws a Refusal. */
export class Api {
  /** @param {string} user id of the user this page acts as; empty for the default. */
  constructor(user) {
    this.user = user;
  }

  state() {
    return this.#get("/page/api/state");
  }

  channel(id) {
    return this.#get(`/page/api/channels/${encodeURIComponent(id)}`);
  }

  thread(channel, ts) {
    return this.#get(
      `/page/api/channels/${encodeURIComponent(channel)}/threads/${encodeURIComponent(ts)}`,
    );
  }

  /**
   * Posts one action of the user.
   * @param {string} action "say", "click", "view/submit", … (the path under /page/api/)
   * @param {object} body
   */
  post(action, body) {
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ user: this.user, ...body }),
    };
    return call(`/page/api/${action}`, init);
  }

  /** The address of the live events. */
  liveUrl() {
    const url = new URL(`/page/ws?user=${encodeURIComponent(this.user)}`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    return url.href;
  }

  #get(path) {
    return call(this.user ? `${path}?user=${encodeURIComponent(this.user)}` : path);
  }
}

async function call(path, init) {
  const response = await fetch(path, init).catch(() => {
    throw new Refusal("unreachable", WORDS.unreachable);
  });
  const answer = await response.json().catch(() => {
    throw new Refusal("unreadable", `${WORDS.unreadable} (${response.status})`);
  });
  if (!answer.ok)
    throw new Refusal(
      answer.error ?? "error",
      answer.message || answer.error || "That did not work.",
    );
  return answer;
}
