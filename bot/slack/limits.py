"""Every limit of Slack that what Moot shows keeps to, in one table (pure).

Characters and counts, at most. `tests/bot/slack/test_limits.py` holds each against the local Slack.

Sources: https://docs.slack.dev/reference/block-kit/blocks, its pages of elements and composition
objects, and https://docs.slack.dev/reference/views.
"""

#: A message. Its blocks as compact JSON: not documented, reported (bolt-js#2509).
MESSAGE_BLOCKS, MESSAGE_JSON = 50, 13_200
#: What `chat.update` takes as text, and what Slack advises; `chat.postMessage` cuts at the other.
UPDATE_TEXT, POST_TEXT = 4000, 40_000
#: A form; its title is as long as its buttons at most.
FORM_BLOCKS, FORM_TITLE, FORM_METADATA = 100, 24, 3000

SECTION_TEXT = 3000
HEADER_TEXT = 150
CONTEXT_ELEMENTS, CONTEXT_TEXT = 10, 2000
#: Buttons in a row.
ROW_ELEMENTS = 25
#: What a button says, to screen readers too, and what it keeps.
BUTTON_TEXT, BUTTON_VALUE = 75, 2000
#: What is asked before a button does something.
CONFIRMATION_TITLE, CONFIRMATION_TEXT, CONFIRMATION_BUTTON = 100, 300, 30
#: A field of a form: its label and its hint, and what is typed into it.
FIELD_LABEL, FIELD_TEXT = 2000, 3000
#: A menu.
OPTIONS, OPTION_TEXT, OPTION_VALUE = 100, 75, 150
#: A block that opens.
FOLD_BLOCKS, FOLD_TITLE = 10, 150
#: A chart: bars, and the name of one.
CHART_TITLE, CHART_BARS, CHART_LABEL = 50, 20, 20
TABLE_ROWS, TABLE_COLUMNS, TABLE_CELL = 100, 20, 3000
