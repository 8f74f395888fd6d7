// Which pane is the page's main one: on a phone the only one that is shown.

/** Whether there is room for one pane only. */
export const PHONE = matchMedia("(max-width: 760px)");

/** Says which pane the reader is in, for the eye and for screen readers: "sidebar", "main" or "thread". */
export function showPane(pane) {
  document.body.dataset.pane = pane;
  markLandmarks();
}

// Where the others are hidden, the one that is left holds the page's main content.
function markLandmarks() {
  const only = PHONE.matches ? document.body.dataset.pane : "";
  setRole("sidebar", only === "sidebar" ? "main" : null);
  setRole("thread", only === "thread" ? "main" : "complementary");
}

function setRole(id, role) {
  const node = document.getElementById(id);
  if (role) node.setAttribute("role", role);
  else node.removeAttribute("role");
}

PHONE.addEventListener("change", markLandmarks);
