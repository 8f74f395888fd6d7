// An agent's session above a thread's composer: its title, its status, and Stop while it works.

import { button } from "./controls.js";
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
    const status = h("strong", {}, WORDS[session.status]);
    const title = session.title && [" · ", session.title];
    const stop = session.status === "processing" && button("Stop", this.stop);
    fill(this.node, h("span", { class: "session-words" }, status, title), stop);
  }
}
