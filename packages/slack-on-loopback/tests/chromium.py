"""The browser that draws the page in tests, if this machine has one."""

import shutil

#: Its program; None where there is none.
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
HOW_TO_INSTALL = "They need Chromium (on Debian: apt-get install chromium)."
