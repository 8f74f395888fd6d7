// Times and dates in the reader's own time zone, and Slack's date tokens.

const cache = new Map();

function format(date, options) {
  const key = JSON.stringify(options);
  if (!cache.has(key)) cache.set(key, new Intl.DateTimeFormat(undefined, options));
  return cache.get(key).format(date);
}

/** A Slack ts ("seconds.micros") or seconds as a Date. */
export function dateOf(ts) {
  return new Date(Number.parseFloat(ts) * 1000);
}

/** "14:05", as the reader's locale writes it. */
export function clock(date) {
  return format(date, { hour: "2-digit", minute: "2-digit" });
}

/** The full date and time, for hovering. */
export function fullDate(date) {
  return format(date, { dateStyle: "full", timeStyle: "medium" });
}

/** A key that is equal for two moments of one local day. */
export function dayKey(date) {
  return `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
}

function daysAgo(date) {
  const midnight = (day) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
  return Math.round((midnight(new Date()) - midnight(date)) / 86_400_000);
}

function prettyOr(date, otherwise) {
  const words = { 0: "today", 1: "yesterday", "-1": "tomorrow" };
  return words[daysAgo(date)] ?? otherwise;
}

/** "Today", "Yesterday" or "Friday, 20 November". */
export function dayLabel(date) {
  const options = { weekday: "long", day: "numeric", month: "long" };
  if (date.getFullYear() !== new Date().getFullYear()) options.year = "numeric";
  const label = prettyOr(date, format(date, options));
  return label[0].toUpperCase() + label.slice(1);
}

/** "3 minutes ago", "in 2 days". */
export function ago(date) {
  const seconds = (date.getTime() - Date.now()) / 1000;
  const steps = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ];
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? steps.at(-1);
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  return words.format(Math.round(seconds / size), unit);
}

const TOKENS = {
  date_short_pretty: (date) =>
    prettyOr(date, format(date, { year: "numeric", month: "short", day: "numeric" })),
  time: clock,
};

/**
 * Fills two of Slack's date tokens: "{date_short_pretty} {time}".
 * https://docs.slack.dev/messaging/formatting-message-text#date-formatting
 * @param {Date} date
 * @param {string} template
 */
export function slackDate(date, template) {
  return template.replace(/\{(\w+)\}/g, (token, name) => TOKENS[name]?.(date) ?? token);
}
