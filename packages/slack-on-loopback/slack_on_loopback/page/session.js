// An agent's session above a thread's composer: its title, its status, and Stop while it works.

import { fill, h } from "./dom.js";
import { attempt } from "./notices.js";

const WORDS = {
  processing: "At work",
  suspended: "Waiting for people",
  active: "Done for now",
  closed: "Ended",
};

/** What an agent says of its work in one thread; empty where it says nothing. */
export class SessionBar {
  #shown = "";

  /**
   * @param {object} ctx drawing context
   * @param {string} channel
   * @param {string} ts of the thread's root
   */
  constructor(ctx, channel, ts) {
    this.node = h("div", { class: "session", role: "status", hidden: true });
    this.stop = () => attempt(() => ctx.api.post("session/stop", { channel, ts }));
  }

  /** Draws what the root says now; what is drawn already is left as it is. */
  draw(root) {
    const session = root?.agent_session;
    const now = JSON.stringify(session ?? null);
    if (now === this.#shown) return;
    this.#shown = now;
    this.node.hidden = !session;
    if (!session) return;
    const words = h(
      "span",
      { class: "session-words" },
      h("strong", {}, WORDS[session.status] ?? session.status),
      session.title && [" · ", session.title],
    );
    const button =
      session.status === "processing" &&
      h("button", { class: "button", type: "button", on: { click: this.stop } }, "Stop");
    fill(this.node, words, button);
  }
}
