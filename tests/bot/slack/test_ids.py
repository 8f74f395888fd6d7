"""Keys say what a post is and tell posts apart."""

from bot.slack.ids import board_key, edit_key, event_key, note_id, note_ts, pin_key


def test_keys_of_one_debate_differ():
    keys = [board_key("d1"), pin_key("d1"), edit_key("d1"), event_key("d1", 1, 0)]
    assert len(set(keys)) == len(keys)
    assert event_key("d1", 12, "headline") == "d1/e12/headline"


def test_a_note_that_is_a_message_gives_its_timestamp_back():
    assert note_ts(note_id("C0AB12", "1700000000.000100")) == "1700000000.000100"


def test_a_note_from_a_form_has_no_timestamp():
    assert note_ts("Ev0AB12") is None
    assert note_ts("") is None
