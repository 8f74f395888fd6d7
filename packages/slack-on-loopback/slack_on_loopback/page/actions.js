// What a person does with an element: ask to confirm, send it to the app, show that it is under way.

import { ask } from "./dialog.js";
import { attempt } from "./notices.js";
import { drawText } from "./text.js";

/**
 * The context every drawing function gets: what the page knows and what a person can do.
 * @param {import("./store.js").Store} store
 * @param {import("./api.js").Api} api
 * @returns {{store: object, api: object, act: Function}}
 */
export function createContext(store, api) {
  const ctx = { store, api };
  ctx.act = (action) => act(action, ctx);
  return ctx;
}

async function act({ surface, form, element, blockId, payload, button }, ctx) {
  if (element.confirm && !(await confirmed(element.confirm, ctx))) return;
  const body = {
    ...surface,
    block_id: blockId,
    action_id: element.action_id,
    type: element.type,
    ...payload,
    values: form.values(),
  };
  button?.setAttribute("aria-busy", "true");
  await attempt(() => ctx.api.post("click", body));
  button?.removeAttribute("aria-busy");
}

function confirmed(confirm, ctx) {
  return ask({
    title: drawText(confirm.title, ctx) ?? "Are you sure?",
    text: drawText(confirm.text, ctx),
    confirm: drawText(confirm.confirm, ctx) ?? "Yes",
    deny: drawText(confirm.deny, ctx) ?? "No",
    danger: confirm.style === "danger",
  });
}
