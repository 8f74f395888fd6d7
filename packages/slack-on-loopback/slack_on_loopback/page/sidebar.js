// The sidebar: team, who you act as, channels and apps.

import { authorOfUser, avatar } from "./authors.js";
import { symbolOf, titleOf } from "./channel_names.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { nameOf } from "./mentions.js";
import { openMenu } from "./menu.js";
import { PHONE } from "./panes.js";

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
    this.lists = h("nav", {
      class: "sidebar-lists",
      "aria-label": "Channels and apps",
      on: { keydown: moveInNav },
    });
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
    return h(
      "header",
      { class: "sidebar-top" },
      h("span", { class: "team-mark", "aria-hidden": "true" }, (team?.name ?? "W")[0]),
      h(
        "div",
        {},
        h(PHONE.matches ? "h1" : "strong", { class: "team-name" }, team?.name ?? "Workspace"),
        h("small", {}, "Local workspace"),
      ),
    );
  }

  #drawFoot() {
    const me = this.ctx.store.users.get(this.ctx.store.me);
    const switcher = h(
      "button",
      {
        class: "switcher",
        type: "button",
        "aria-haspopup": "menu",
        on: { click: (event) => this.#openUsers(event.currentTarget) },
      },
      avatar(authorOfUser(me ?? {}, this.ctx), "small"),
      h(
        "span",
        { class: "switcher-words" },
        h("small", {}, "You act as"),
        h("strong", {}, nameOf(me)),
      ),
      icon("chevron"),
    );
    return h("footer", { class: "sidebar-foot" }, switcher);
  }

  #openUsers(anchor) {
    const people = [...this.ctx.store.users.values()].filter((user) => !user.is_bot);
    const entries = people.map((user) => ({
      label: nameOf(user),
      hint: `@${user.name}`,
      checked: user.id === this.ctx.store.me,
      run: () => actAs(user.id),
    }));
    openMenu(anchor, [{ heading: "Act as" }, ...entries]);
  }

  #draw() {
    const apps = [...this.ctx.store.apps.values()].filter((app) => app.has_home);
    const groups = grouped([...this.ctx.store.channels.values()]);
    fill(
      this.lists,
      this.#channels("Channels", groups.mine),
      groups.others.length > 0 && this.#channels("Not joined", groups.others),
      groups.direct.length > 0 && this.#channels("Direct messages", groups.direct),
      this.#section(
        "Apps",
        apps.map((app) => this.#app(app)),
      ),
      groups.archived.length > 0 && this.#channels("Archived", groups.archived),
    );
  }

  #channels(title, channels) {
    return this.#section(
      title,
      channels.map((channel) => this.#channel(channel)),
    );
  }

  #section(title, links) {
    return h(
      "section",
      {},
      h("div", { class: "section-title" }, h("h2", {}, title)),
      h(
        "ul",
        {},
        links.map((link) => h("li", {}, link)),
      ),
    );
  }

  #channel(channel) {
    const unread = this.ctx.store.unread.get(channel.id) ?? 0;
    const current = this.#route.channel === channel.id;
    const state = [
      channel.is_private && !channel.is_im && "private",
      channel.is_archived && "archived",
      unread > 0 && `${unread} unread`,
    ]
      .filter(Boolean)
      .join(", ");
    const props = {
      class: `nav-link${unread ? " unread" : ""}`,
      href: `#/${channel.id}`,
      "aria-current": current ? "page" : null,
    };
    return h(
      "a",
      props,
      icon(symbolOf(channel)),
      h("span", { class: "nav-name" }, titleOf(channel, this.ctx)),
      state && h("span", { class: "visually-hidden" }, `, ${state}`),
      unread > 0 && h("span", { class: "badge", "aria-hidden": "true" }, String(unread)),
    );
  }

  #app(app) {
    const props = {
      class: "nav-link",
      href: `#/home/${app.id}`,
      "aria-current": this.#route.home === app.id ? "page" : null,
    };
    const state = app.connected ? "connected" : "not connected";
    return h(
      "a",
      props,
      h("span", { class: `presence${app.connected ? " on" : ""}`, title: state }),
      h("span", { class: "nav-name" }, app.name),
      h("span", { class: "visually-hidden" }, `, ${state}`),
    );
  }
}

function grouped(channels) {
  const sorted = channels.sort((a, b) => a.name.localeCompare(b.name));
  const open = sorted.filter((channel) => !channel.is_im && !channel.is_archived);
  return {
    mine: open.filter((channel) => channel.is_member),
    others: open.filter((channel) => !channel.is_member),
    direct: sorted.filter((channel) => channel.is_im),
    archived: sorted.filter((channel) => channel.is_archived),
  };
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
