// Which function draws which input element.

import { checkboxInput, dateInput } from "./inputs_choice.js";
import { selectInput } from "./inputs_select.js";
import { textInput } from "./inputs_text.js";

const INPUTS = {
  plain_text_input: textInput,
  checkboxes: checkboxInput,
  datepicker: dateInput,
  static_select: selectInput,
  users_select: selectInput,
  conversations_select: selectInput,
  multi_static_select: selectInput,
  multi_users_select: selectInput,
  multi_conversations_select: selectInput,
};

/**
 * Draws an input element.
 * @param {object} element Slack's element
 * @param {{ctx: object, surface: object, blockId: string, id: string, label?: string, labelId?: string, describedBy?: string, dispatches: boolean, changed: Function}} io
 * @returns {{node: Node, read: Function, isEmpty: Function, check?: Function, focus: Function}|null} null for a type that is no input
 */
export function createInput(element, io) {
  return INPUTS[element.type]?.(element, io) ?? null;
}
