// Which function draws which input element.

import { checkboxInput, dateInput, dateTimeInput, radioInput, timeInput } from "./inputs_choice.js";
import { fileInput } from "./inputs_file.js";
import { selectInput } from "./inputs_select.js";
import { emailInput, numberInput, richTextInput, textInput, urlInput } from "./inputs_text.js";

const INPUTS = {
  plain_text_input: textInput,
  email_text_input: emailInput,
  url_text_input: urlInput,
  number_input: numberInput,
  rich_text_input: richTextInput,
  radio_buttons: radioInput,
  checkboxes: checkboxInput,
  datepicker: dateInput,
  timepicker: timeInput,
  datetimepicker: dateTimeInput,
  file_input: fileInput,
  static_select: selectInput,
  external_select: selectInput,
  users_select: selectInput,
  conversations_select: selectInput,
  channels_select: selectInput,
  multi_static_select: selectInput,
  multi_external_select: selectInput,
  multi_users_select: selectInput,
  multi_conversations_select: selectInput,
  multi_channels_select: selectInput,
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
