// The sidebar: team, who you act as, channels, apps, and the theme.

import { authorOfUser, avatar } from "./authors.js";
import { createChannel } from "./channel_dialogs.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { nameOf } from "./mentions.js";
import { openMenu } from "./menu.js";
import { themeEntries } from "./theme.js";

/** Draws and keeps the sidebar. */
export class Sidebar {
  #route = {};

  /**
   * @param {HTMLElement} node
   * @param {object} ctx drawing context
   */
  constructor(node, ctx) {
    this.node = node;
    this.ctx = ctx;
    this.lists = h("nav", { class: "sidebar-lists", "aria-label": "Channels and apps", on: { keydown: moveInNav } });
    fill(node, this.#drawTop(), this.lists, this.#drawFoot());
    for (const name of ["channels", "apps", "unread"]) ctx.store.on(name, () => this.#draw());
    this.#draw();
  }

  /** Marks where the reader is. */
  show(route) {
    this.#route = route;
    this.#draw();
  }

  #drawTop() {
    const { team } = this.ctx.store;
    return h("header", { class: "sidebar-top" },
      h("span", { class: "team-mark", "aria-hidden": "true" }, (team?.name ?? "W")[0]),
      h("div", {}, h("strong", { class: "team-name" }, team?.name ?? "Workspace"), h("small", {}, "Local workspace")));
  }

  #drawFoot() {
    const me = this.ctx.store.users.get(this.ctx.store.me);
    const switcher = h("button", { class: "switcher", type: "button", "aria-haspopup": "menu", on: { click: (event) => this.#openUsers(event.currentTarget) } },
      avatar(authorOfUser(me ?? {}, this.ctx), "small"),
      h("span", { class: "switcher-words" }, h("small", {}, "You act as"), h("strong", {}, nameOf(me))),
      icon("chevron"));
    const theme = h("button", { class: "icon-button", type: "button", "aria-haspopup": "menu", "aria-label": "Colours", title: "Colours", on: { click: (event) => openMenu(event.currentTarget, [{ heading: "Colours" }, ...themeEntries()]) } }, icon("contrast"));
    return h("footer", { class: "sidebar-foot" }, switcher, theme);
  }

  #openUsers(anchor) {
    const people = [...this.ctx.store.users.values()].filter((user) => !user.is_bot);
    const entries = people.map((user) => ({ label: nameOf(user), hint: `@${user.name}`, checked: user.id === this.ctx.store.me, run: () => actAs(user.id) }));
    openMenu(anchor, [{ heading: "Act as" }, ...entries]);
  }

  #draw() {
    const channels = [...this.ctx.store.channels.values()].sort((a, b) => a.name.localeCompare(b.name));
    const mine = channels.filter((channel) => channel.is_member && !channel.is_archived);
    const others = channels.filter((channel) => !channel.is_member && !channel.is_archived);
    const archived = channels.filter((channel) => channel.is_archived);
    const add = h("button", { class: "icon-button", type: "button", "aria-label": "Create channel", title: "Create channel", on: { click: () => createChannel(this.ctx) } }, icon("plus"));
    fill(this.lists,
      this.#section("Channels", mine.map((channel) => this.#channel(channel)), add),
      others.length > 0 && this.#section("Not joined", others.map((channel) => this.#channel(channel))),
      this.#section("Apps", [...this.ctx.store.apps.values()].filter((app) => app.has_home).map((app) => this.#app(app))),
      archived.length > 0 && this.#section("Archived", archived.map((channel) => this.#channel(channel))));
  }

  #section(title, links, extra = null) {
    return h("section", {}, h("div", { class: "section-title" }, h("h2", {}, title), extra), h("ul", {}, links.map((link) => h("li", {}, link))));
  }

  #channel(channel) {
    const unread = this.ctx.store.unread.get(channel.id) ?? 0;
    const current = this.#route.channel === channel.id;
    const symbol = channel.is_archived ? "archive" : channel.is_private ? "lock" : "hash";
    const state = [channel.is_private && "private", channel.is_archived && "archived", unread > 0 && `${unread} unread`].filter(Boolean).join(", ");
    const props = { class: `nav-link${unread ? " unread" : ""}`, href: `#/${channel.id}`, "aria-current": current ? "page" : null };
    return h("a", props, icon(symbol), h("span", { class: "nav-name" }, channel.name), state && h("span", { class: "visually-hidden" }, `, ${state}`), unread > 0 && h("span", { class: "badge", "aria-hidden": "true" }, String(unread)));
  }

  #app(app) {
    const props = { class: "nav-link", href: `#/home/${app.id}`, "aria-current": this.#route.home === app.id ? "page" : null };
    const state = app.connected ? "connected" : "not connected";
    return h("a", props, h("span", { class: `presence${app.connected ? " on" : ""}`, title: state }), h("span", { class: "nav-name" }, app.name), h("span", { class: "visually-hidden" }, `, ${state}`));
  }
}

function actAs(id) {
  const url = new URL(location.href);
  url.searchParams.set("user", id);
  location.assign(url);
}

function moveInNav(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches(".nav-link")) return;
  const links = [...event.currentTarget.querySelectorAll(".nav-link")];
  event.preventDefault();
  links[(links.indexOf(event.target) + step + links.length) % links.length].focus();
}
