// Starts the page: loads the state, draws the frame, follows the address and the live events.

import { createContext } from "./actions.js";
import { Api, Refusal } from "./api.js";
import { authorOf } from "./authors.js";
import { ChannelPane } from "./channel.js";
import { button } from "./controls.js";
import { fill, h } from "./dom.js";
import { GuideBar } from "./guide.js";
import { HomePane } from "./home.js";
import { Live } from "./live.js";
import { excerpt } from "./message.js";
import { drawEmpty } from "./message_list.js";
import { Modal } from "./modal.js";
import { announce, attempt, showApp, showConnection, toast } from "./notices.js";
import { PHONE, showPane } from "./panes.js";
import { startRouter } from "./router.js";
import { Sidebar } from "./sidebar.js";
import { Store } from "./store.js";
import { ThreadPane } from "./thread.js";

/** The running page. */
class Page {
  #main = null;
  #thread = null;

  constructor(user) {
    this.store = new Store();
    this.api = new Api(user);
    this.ctx = createContext(this.store, this.api);
    this.modal = new Modal(this.ctx);
  }

  async start() {
    const { view, guide } = await this.#loadState();
    this.api.user = this.store.me;
    document.title = `${this.store.team?.name ?? "Workspace"} · local workspace`;
    this.sidebar = new Sidebar(document.getElementById("sidebar"), this.ctx);
    this.store.on("app", () => showApp(this.store.app));
    showApp(this.store.app);
    document.getElementById("skip").addEventListener("click", (event) => this.#skip(event));
    startRouter((route) => this.#go(route));
    this.modal.show(view);
    this.guide = new GuideBar(this.ctx);
    this.guide.show(guide);
    this.#listen();
  }

  #skip(event) {
    event.preventDefault();
    (document.querySelector('#main .row[tabindex="0"]') ?? document.getElementById("main")).focus();
  }

  async #loadState() {
    const state = await this.api.state();
    this.store.loadState(state);
    return state;
  }

  #listen() {
    const live = new Live(() => this.api.liveUrl(), {
      event: (event) => this.#apply(event),
      up: (again) => this.#connected(again),
      down: () => showConnection(true, () => live.start()),
    });
    live.start();
  }

  // What is on screen is fetched anew: what happened before the connection stood was not told.
  // A home is not, at first: its app would be told twice that it was opened.
  async #connected(again) {
    showConnection(false);
    const panes = [this.#main, this.#thread].filter((pane) => pane && (again || pane.list));
    await attempt(async () => {
      if (again) this.guide.show((await this.#loadState()).guide);
      await Promise.all(panes.map((pane) => pane.refresh()));
    });
  }

  #apply(event) {
    if (event.type === "guide") this.guide.show(event.guide);
    else if (event.type === "command_failed") toast(event.text, { error: true });
    else if (!this.modal.apply(event)) this.store.apply(event);
    if (event.type === "message") this.#announce(event.message);
  }

  #announce(message) {
    if (message.channel !== this.store.active || message.user === this.store.me) return;
    announce(`${authorOf(message, this.ctx).name}: ${excerpt(message, this.ctx, 200)}`);
  }

  #go(route) {
    if (!route.channel && !route.home && !PHONE.matches && this.#goToFirst()) return;
    this.sidebar.show(route);
    this.store.setActive(route.channel ?? "");
    this.#showMain(route);
    this.#showThread(route);
    showPane(route.thread ? "thread" : route.channel || route.home ? "main" : "sidebar");
  }

  #goToFirst() {
    const first = [...this.store.channels.values()].find(
      (channel) => channel.is_member && !channel.is_archived && !channel.is_im,
    );
    if (first) location.replace(`#/${first.id}`);
    return Boolean(first);
  }

  #showMain(route) {
    const key = route.home ? "home" : route.channel;
    if (this.#main?.key !== key) this.#openMain(route, key);
    const { message, button } = route;
    if (message) this.#main?.ready?.then(() => this.#main.list?.reveal(message, { button }));
  }

  #openMain(route, key) {
    this.#main?.close();
    const slot = document.getElementById("main");
    const isKnown = this.store.channels.has(route.channel);
    this.#main = isKnown ? new ChannelPane(this.ctx, route.channel) : null;
    if (route.home) this.#main = new HomePane(this.ctx);
    if (!this.#main) {
      fill(slot, drawEmpty("Pick a channel", "Channels you may read are on the left."));
      return;
    }
    this.#main.key = key;
    fill(slot, this.#main.node);
    this.#main.ready = attempt(() => this.#main.refresh());
    if (!PHONE.matches && !route.thread) this.#main.composer?.focus();
  }

  #showThread(route) {
    const key = route.thread && `${route.channel}/${route.thread}`;
    if (this.#thread?.key === key) return;
    const closing = this.#thread;
    closing?.close();
    const slot = document.getElementById("thread");
    const isKnown = key && this.store.channels.has(route.channel);
    const pane = isKnown ? new ThreadPane(this.ctx, route.channel, route.thread) : null;
    this.#thread = pane;
    slot.hidden = !pane;
    document.body.classList.toggle("with-thread", Boolean(pane));
    fill(slot, pane?.node);
    if (pane) {
      attempt(() => pane.refresh());
      if (!PHONE.matches) pane.composer.focus();
    } else if (closing)
      document.querySelector(`#main .row[data-ts="${CSS.escape(closing.ts)}"]`)?.focus();
  }
}

async function boot() {
  const user = new URLSearchParams(location.search).get("user") ?? "";
  try {
    await new Page(user).start();
  } catch (error) {
    const text =
      error instanceof Refusal
        ? error.message
        : "This page failed to start. Reload it; the browser's console says why.";
    const title = h("h2", {}, "The workspace cannot be shown");
    const again = button("Try again", () => location.reload(), "primary");
    const box = h("div", { class: "empty" }, title, h("p", { role: "alert" }, text), again);
    fill(document.getElementById("main"), box);
    if (!(error instanceof Refusal)) throw error;
  }
}

boot();
