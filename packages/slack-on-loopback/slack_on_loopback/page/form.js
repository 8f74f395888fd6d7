// The controls of one surface (a message, a modal, a Home tab): their values, checks and errors.

/** Registers controls as blocks are drawn, and reads them together. */
export class Form {
  #controls = new Map();
  #fields = new Map();

  /** Adds a control: `{read, check?, focus}`. */
  addControl(blockId, actionId, control) {
    const block = this.#controls.get(blockId) ?? new Map();
    this.#controls.set(blockId, block.set(actionId, control));
  }

  /** Adds an input block's field: `{showError}`, and whether it may stay empty. */
  addField(blockId, field) {
    this.#fields.set(blockId, field);
  }

  /** Slack's `state.values`: `{block_id: {action_id: {type, …}}}`. */
  values() {
    const values = {};
    for (const [blockId, block] of this.#controls) {
      values[blockId] = Object.fromEntries(
        [...block].map(([actionId, control]) => [actionId, control.read()]),
      );
    }
    return values;
  }

  /** Checks every field as Slack's client does; shows what is wrong. True if all is well. */
  check() {
    const errors = {};
    for (const [blockId, field] of this.#fields) {
      const error = this.#errorOf(blockId, field);
      if (error) errors[blockId] = error;
    }
    this.showErrors(errors);
    return Object.keys(errors).length === 0;
  }

  #errorOf(blockId, field) {
    for (const control of this.#controls.get(blockId)?.values() ?? []) {
      if (control.isEmpty()) return field.optional ? null : "Please fill in this field.";
      const error = control.check?.();
      if (error) return error;
    }
    return null;
  }

  /** Shows errors by block_id at their fields and puts the focus on the first. Returns what has no field. */
  showErrors(errors) {
    const left = { ...errors };
    let focused = false;
    for (const [blockId, field] of this.#fields) {
      field.showError(errors[blockId] ?? null);
      delete left[blockId];
      if (!errors[blockId] || focused) continue;
      focused = true;
      for (const control of this.#controls.get(blockId).values()) control.focus();
    }
    return Object.values(left);
  }
}

/**
 * An element that starts from an earlier value (Slack's state) instead of its own initial one.
 * @param {object} element
 * @param {object|undefined} state the element's entry in `state.values`
 */
export function withState(element, state) {
  if (!state || state.type !== element.type) return element;
  const names = Object.keys(state).filter(
    (name) => name === "value" || name.startsWith("selected_"),
  );
  const start = Object.fromEntries(
    names.map((name) => [initialName(name), state[name] ?? undefined]),
  );
  return { ...element, ...start };
}

function initialName(name) {
  if (name === "value") return "initial_value";
  return name.replace("selected_", "initial_");
}
