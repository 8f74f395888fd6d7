// Addresses inside the page: `#/C1`, `#/C1/<thread ts>`, `#/C1?m=<ts>`, `#/C1?m=<ts>&button`, `#/home`.

/** @typedef {{channel?: string, thread?: string, message?: string, button?: boolean, home?: boolean}} Route */

function readRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [first, second] = path.split("/").map(decodeURIComponent);
  if (first === "home") return { home: true };
  if (!first) return {};
  const wanted = new URLSearchParams(query);
  return {
    channel: first,
    thread: second,
    message: wanted.get("m") ?? undefined,
    button: wanted.has("button"),
  };
}

/** The address inside the page for one of Slack's permalinks ("/archives/C1/p1700000000000100"), or null. */
function routeOfPermalink(href) {
  const url = new URL(href, location.href);
  const match = url.pathname.match(/\/archives\/(\w+)\/p(\d{6,})$/);
  if (!match) return null;
  const [, channel, digits] = match;
  const ts = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  const thread = url.searchParams.get("thread_ts");
  return thread ? `#/${channel}/${thread}` : `#/${channel}?m=${ts}`;
}

/** Calls `changed(route)` now and on every change, and keeps permalinks inside the page. */
export function startRouter(changed) {
  addEventListener("hashchange", () => changed(readRoute(location.hash)));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const route = link && routeOfPermalink(link.href);
    if (!route) return;
    event.preventDefault();
    location.hash = route;
  });
  changed(readRoute(location.hash));
}
