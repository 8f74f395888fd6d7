// Light, dark or as the system says; the choice is kept in the browser.

const KEY = "workspace-theme";
const NAMES = { system: "As the system", light: "Light", dark: "Dark" };

function current() {
  try {
    return localStorage.getItem(KEY) ?? "system";
  } catch {
    return "system"; // storage can be switched off; the page works without
  }
}

function keep(name) {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // not kept then
  }
}

/** Applies a theme ("system", "light", "dark"). */
export function applyTheme(name = current()) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  keep(name);
}

/** The menu entries of the switch. */
export function themeEntries() {
  const chosen = current();
  return Object.entries(NAMES).map(([name, label]) => ({
    label,
    checked: name === chosen,
    run: () => applyTheme(name),
  }));
}
