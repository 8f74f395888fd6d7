// A searchable select (one or several) in the combobox pattern: arrows, Enter, Esc, Backspace.

import { fill, freshId, h } from "./dom.js";
import { icon } from "./icons.js";
import { place } from "./popup.js";


/**
 * One choice: `id` tells it apart, `label` is shown and searched, `raw` is what Slack calls it.
 * @typedef {{id: string, label: string, hint?: string, group?: string, raw: any}} Choice
 */

/** A select with search. `read()` gives the chosen Choices. */
export class Picker {
  #open = false;
  #found = [];
  #at = -1;
  #timer = 0;

  /**
   * @param {{id: string, label?: string, describedBy?: string, placeholder?: string, multiple?: boolean, max?: number, chosen: Choice[],
   *   find: (query: string) => Promise<Choice[]>|Choice[], changed: Function}} options
   */
  constructor(options) {
    this.options = options;
    this.chosen = options.chosen;
    this.listId = freshId("choices");
    this.input = this.#drawInput();
    this.chips = h("span", { class: "chips" });
    this.list = h("div", {
      class: "popup picker-list",
      id: this.listId,
      role: "listbox",
      popover: "manual",
      "aria-multiselectable": String(Boolean(options.multiple)),
    });
    this.node = h(
      "div",
      { class: "picker", on: { click: () => this.input.focus() } },
      this.chips,
      this.input,
      icon("chevron"),
      this.list,
    );
    this.#drawChosen();
  }

  #drawInput() {
    const { id, label, describedBy } = this.options;
    const on = {
      focus: () => this.input.select(),
      click: () => this.#show(""),
      input: () => this.#search(this.input.value),
      keydown: (event) => this.#key(event),
      blur: () => this.#hide(),
    };
    return h("input", {
      id,
      on,
      type: "text",
      role: "combobox",
      class: "picker-input",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": label,
      "aria-describedby": describedBy,
      "aria-expanded": "false",
      "aria-controls": this.listId,
      "aria-autocomplete": "list",
    });
  }

  focus() {
    this.input.focus();
  }

  #drawChosen() {
    const { multiple, placeholder } = this.options;
    this.input.value = multiple ? "" : (this.chosen[0]?.label ?? "");
    this.input.placeholder = multiple && this.chosen.length ? "" : (placeholder ?? "");
    if (multiple)
      fill(
        this.chips,
        this.chosen.map((choice) => this.#chip(choice)),
      );
  }

  #chip(choice) {
    const drop = (event) => {
      event.stopPropagation();
      this.#set(this.chosen.filter((other) => other.id !== choice.id));
      this.input.focus();
    };
    const cross = h(
      "button",
      {
        type: "button",
        "aria-label": `Remove ${choice.label}`,
        on: { click: drop, mousedown: (event) => event.preventDefault() },
      },
      icon("close"),
    );
    return h("span", { class: "chip" }, choice.label, cross);
  }

  #set(chosen) {
    this.chosen = chosen;
    this.#drawChosen();
    this.options.changed();
  }

  #search(query) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(query));
  }

  #show(query) {
    if (document.activeElement !== this.input) return;
    const found = this.options.find(query.trim());
    this.#found = found;
    this.#at = Math.max(
      found.findIndex((choice) => this.#has(choice)),
      found.length ? 0 : -1,
    );
    let group;
    const rows = found.flatMap((choice, index) => {
      const heading =
        choice.group && choice.group !== group
          ? h("div", { class: "menu-heading" }, choice.group)
          : null;
      group = choice.group;
      return [heading, this.#row(choice, index)];
    });
    fill(this.list, found.length ? rows : h("div", { class: "menu-empty" }, "Nothing found"));
    this.#reveal();
  }

  #row(choice, index) {
    const on = {
      mousedown: (event) => event.preventDefault(),
      click: (event) => this.#pick(event, choice),
    };
    const props = {
      on,
      class: "menu-item",
      role: "option",
      id: `${this.listId}-${index}`,
      "aria-selected": String(this.#has(choice)),
    };
    const mark = this.#has(choice) ? icon("check") : null;
    return h(
      "div",
      props,
      h("span", { class: "menu-label" }, choice.label, choice.hint && h("small", {}, choice.hint)),
      mark,
    );
  }

  #has(choice) {
    return this.chosen.some((other) => other.id === choice.id);
  }

  #reveal() {
    if (!this.#open) this.list.showPopover();
    this.#open = true;
    this.input.setAttribute("aria-expanded", "true");
    place(this.list, this.node, { stretch: true });
    this.#mark();
  }

  #mark() {
    const rows = [...this.list.querySelectorAll("[role=option]")];
    rows.forEach((row, index) => row.classList.toggle("active", index === this.#at));
    rows[this.#at]?.scrollIntoView({ block: "nearest" });
    if (rows[this.#at]) this.input.setAttribute("aria-activedescendant", rows[this.#at].id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  #hide() {
    clearTimeout(this.#timer);
    if (this.#open) this.list.hidePopover();
    this.#open = false;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.#drawChosen();
  }

  #pick(event, choice) {
    event.stopPropagation();
    if (!this.options.multiple) {
      this.#set([choice]);
      this.#hide();
      return;
    }
    if (this.#has(choice)) this.#set(this.chosen.filter((other) => other.id !== choice.id));
    else if (this.chosen.length < (this.options.max ?? Infinity))
      this.#set([...this.chosen, choice]);
    this.#show("");
  }

  #key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      event.preventDefault();
      this.#move(moves[event.key]);
    } else if (event.key === "Enter") this.#enter(event);
    else if (event.key === "Escape" && this.#open) {
      event.preventDefault();
      this.#hide();
    } else if (
      event.key === "Backspace" &&
      this.options.multiple &&
      !this.input.value &&
      this.chosen.length
    )
      this.#set(this.chosen.slice(0, -1));
  }

  #move(step) {
    if (!this.#open) {
      this.#show("");
      return;
    }
    const count = this.#found.length;
    if (count) this.#at = (this.#at + step + count) % count;
    this.#mark();
  }

  #enter(event) {
    event.preventDefault();
    if (!this.#open) this.#show("");
    else if (this.#found[this.#at]) this.#pick(event, this.#found[this.#at]);
  }
}
