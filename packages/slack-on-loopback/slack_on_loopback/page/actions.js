// What a person does with an element: ask to confirm, send it to the app, show that it is under way.

import { ask } from "./dialog.js";
import { attempt } from "./notices.js";
import { drawText } from "./text.js";

/** The context that every drawing function gets: what the page knows and what a person can do. */
export function createContext(store, api) {
  const ctx = { store, api };
  ctx.act = (action) => act(action, ctx);
  return ctx;
}

async function act({ surface, form, element, blockId, payload, button }, ctx) {
  if (element.confirm && !(await confirmed(element.confirm, ctx))) return;
  const names = { block_id: blockId, action_id: element.action_id };
  const body = { ...surface, ...names, ...payload, values: form?.values() };
  button?.setAttribute("aria-busy", "true");
  await attempt(() => ctx.api.post("click", body));
  button?.removeAttribute("aria-busy");
}

function confirmed(confirm, ctx) {
  return ask({
    title: drawText(confirm.title, ctx),
    text: drawText(confirm.text, ctx),
    confirm: drawText(confirm.confirm, ctx),
    deny: drawText(confirm.deny, ctx),
  });
}
