// The sidebar: team, channels, direct messages, the app, and who you act as.

import { symbolOf, titleOf } from "./channel_names.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { nameOf } from "./mentions.js";
import { PHONE } from "./panes.js";

/** Draws and keeps the sidebar. */
export class Sidebar {
  #route = {};

  constructor(node, ctx) {
    this.ctx = ctx;
    this.lists = h("nav", { class: "sidebar-lists", "aria-label": "Channels and apps" });
    fill(node, this.#drawTop(), this.lists, this.#drawFoot());
    for (const name of ["channels", "app", "unread"]) ctx.store.on(name, () => this.#draw());
    this.#draw();
  }

  /** Marks where the reader is. */
  show(route) {
    this.#route = route;
    this.#draw();
  }

  #drawTop() {
    const name = this.ctx.store.team?.name ?? "Workspace";
    const mark = h("span", { class: "team-mark", "aria-hidden": "true" }, name[0]);
    const title = h(PHONE.matches ? "h1" : "strong", { class: "team-name" }, name);
    const box = h("div", {}, title, h("small", {}, "Local workspace"));
    return h("header", { class: "sidebar-top" }, mark, box);
  }

  #drawFoot() {
    const { users, me } = this.ctx.store;
    const people = [...users.values()].filter((user) => !user.is_bot);
    const options = people.map((user) =>
      h("option", { value: user.id, selected: user.id === me }, nameOf(user)),
    );
    const change = (event) => actAs(event.target.value);
    const select = h("select", { class: "text-input", on: { change } }, options);
    return h("footer", { class: "sidebar-foot" }, h("label", {}, "You act as", select));
  }

  #draw() {
    const channels = [...this.ctx.store.channels.values()];
    channels.sort((a, b) => a.name.localeCompare(b.name));
    const open = channels.filter((channel) => !channel.is_im && !channel.is_archived);
    const { app } = this.ctx.store;
    const groups = {
      Channels: open.filter((channel) => channel.is_member),
      "Not joined": open.filter((channel) => !channel.is_member),
      "Direct messages": channels.filter((channel) => channel.is_im),
      Archived: channels.filter((channel) => channel.is_archived),
    };
    const sections = Object.entries(groups).map(([title, some]) =>
      drawSection(title, some.map((channel) => this.#channel(channel))),
    );
    fill(this.lists, sections, app.has_home && drawSection("Apps", [this.#app(app)]));
  }

  #channel(channel) {
    const unread = this.ctx.store.unread.get(channel.id) ?? 0;
    const state = [
      channel.is_private && !channel.is_im && "private",
      channel.is_archived && "archived",
      unread > 0 && `${unread} unread`,
    ];
    const isHere = this.#route.channel === channel.id;
    const link = drawLink(`#/${channel.id}`, isHere, [
      icon(symbolOf(channel)),
      h("span", { class: "nav-name" }, titleOf(channel, this.ctx)),
      state.filter(Boolean).map((word) => h("span", { class: "visually-hidden" }, `, ${word}`)),
      unread > 0 && h("span", { class: "badge", "aria-hidden": "true" }, String(unread)),
    ]);
    link.classList.toggle("unread", unread > 0);
    return link;
  }

  #app(app) {
    const state = app.connected ? "connected" : "not connected";
    return drawLink("#/home", this.#route.home, [
      h("span", { class: `presence${app.connected ? " on" : ""}`, title: state }),
      h("span", { class: "nav-name" }, app.name),
      h("span", { class: "visually-hidden" }, `, ${state}`),
    ]);
  }
}

function drawSection(title, links) {
  if (!links.length) return null;
  const list = h("ul", {}, links.map((link) => h("li", {}, link)));
  return h("section", {}, h("h2", { class: "section-title" }, title), list);
}

function drawLink(href, isHere, content) {
  return h("a", { class: "nav-link", href, "aria-current": isHere ? "page" : null }, content);
}

function actAs(id) {
  const url = new URL(location.href);
  url.searchParams.set("user", id);
  location.assign(url);
}
