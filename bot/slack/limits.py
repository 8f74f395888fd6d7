"""Slack's limits for messages and forms, in one table (pure).

Maximum characters and counts. `tests/bot/slack/test_limits.py` checks each with the local Slack.

Sources: https://docs.slack.dev/reference/block-kit/blocks, its pages of elements and composition
objects, and https://docs.slack.dev/reference/views.
"""

#: Characters of a message's blocks as compact JSON: not documented, but reported in bolt-js#2509.
MESSAGE_JSON = 13_200
#: Text in `chat.update`, and the length at which `chat.postMessage` cuts a text.
UPDATE_TEXT, POST_TEXT = 4000, 40_000
#: Blocks of a form, characters of its title and of each of its buttons, and of its metadata.
FORM_BLOCKS, FORM_TITLE, FORM_METADATA = 100, 24, 3000

SECTION_TEXT = 3000
HEADER_TEXT = 150
CONTEXT_ELEMENTS = 10
#: Buttons in a row.
ROW_ELEMENTS = 25
#: The text of a button, also for screen readers, and its value.
BUTTON_TEXT, BUTTON_VALUE = 75, 2000
#: A field of a form: its label and its hint, and the text that a person types.
FIELD_LABEL, FIELD_TEXT = 2000, 3000
#: Options of a menu, and their texts.
OPTIONS, OPTION_TEXT = 100, 75
#: A collapsible section.
FOLD_BLOCKS, FOLD_TITLE = 10, 150
#: A chart: bars, and the label of a bar.
CHART_BARS, CHART_LABEL = 20, 20
