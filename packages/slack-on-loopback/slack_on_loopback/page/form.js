// The fields of a modal: their values, checks and errors.

/** Registers input blocks as they are drawn, and reads them together. */
export class Form {
  #fields = new Map();

  /** Adds an input block: `{actionId, control, isOptional, showError}`. */
  add(blockId, field) {
    this.#fields.set(blockId, field);
  }

  /** Slack's `state.values`: `{block_id: {action_id: {type, …}}}`. */
  values() {
    const values = {};
    for (const [blockId, { actionId, control }] of this.#fields)
      values[blockId] = { [actionId]: control.read() };
    return values;
  }

  /** Checks every field as Slack's client does; shows what is wrong. True if all is well. */
  check() {
    const errors = {};
    for (const [blockId, { control, isOptional }] of this.#fields)
      if (!isOptional && control.isEmpty()) errors[blockId] = "Please fill in this field.";
    this.showErrors(errors);
    return Object.keys(errors).length === 0;
  }

  /** Shows errors by block_id at their fields and puts the focus on the first. */
  showErrors(errors) {
    for (const [blockId, field] of this.#fields) field.showError(errors[blockId] ?? null);
    const first = [...this.#fields].find(([blockId]) => errors[blockId]);
    first?.[1].control.focus();
  }
}

/** An element that starts from an earlier value (its entry in Slack's `state.values`) instead of its own. */
export function withState(element, state) {
  if (state?.type !== element.type) return element;
  const names = Object.keys(state).filter((name) => name !== "type");
  const start = names.map((name) => [
    `initial_${name.replace("selected_", "")}`,
    state[name] ?? undefined,
  ]);
  return { ...element, ...Object.fromEntries(start) };
}
