"""The page in a real browser, with a real workspace behind it."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Page, Request, Route, WebSocketRoute, expect

from slack_on_loopback import GuideButton, GuideLine, PersonRefusal
from slack_on_loopback.modals import close, replace_view
from slack_on_loopback.posting import pin, post
from tests.bots import Recorder, actions
from tests.browser.conftest import Open
from tests.browser.sample import BOARD, FORM, HOME, Sample, button, option, plain, section

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

NASTY = "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"


def row(page: Page, ts: str) -> Any:
    """Return the row of a message in the channel."""
    return page.locator(f'#main .row[data-ts="{ts}"]')


async def test_text_of_people_and_models_is_never_markup(open_page: Open, sample: Sample) -> None:
    cells = [{"type": "raw_text", "text": NASTY}]
    blocks = [
        section(f"{NASTY} <javascript:x|go> <https://a.example|see>"),
        {"type": "table", "rows": [cells, cells]},
        actions(button(NASTY, "x")),
    ]
    page = await open_page(sample.address())
    await sample.post("general", username=NASTY, text=NASTY, blocks=blocks)
    await sample.ws.share_file("alex", "general", NASTY, b"x", text=NASTY)
    last = page.locator("#main .row").last
    await expect(last).to_contain_text("<script>window.pwned=1</script>")
    assert await page.evaluate("window.pwned") is None
    assert await page.locator("#main script, #main img").count() == 0
    links = await page.eval_on_selector_all(
        "#main a[target]", "all => all.map(a => [a.protocol, a.rel])"
    )
    assert links
    assert {scheme for scheme, _ in links} <= {"http:", "https:", "mailto:"}
    assert {rel for _, rel in links} == {"noopener noreferrer"}


async def test_the_page_asks_no_other_host(open_page: Open, sample: Sample) -> None:
    page = await open_page(sample.address("architecture"))
    urls: list[str] = []

    def note(request: Request) -> None:
        urls.append(request.url)

    page.on("request", note)
    await page.reload()
    await page.locator("#main .row").first.wait_for()
    assert urls
    assert [url for url in urls if not url.startswith((sample.ws.url, "data:"))] == []


async def test_a_thread_is_read_and_answered_by_keyboard_alone(page: Page, sample: Sample) -> None:
    await page.locator("#main .row").last.wait_for()
    await page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    await page.keyboard.press("Tab")
    await expect(page.locator("#skip")).to_be_focused()
    await page.keyboard.press("Enter")
    board = row(page, sample.board)
    while not await board.evaluate("node => node === document.activeElement"):
        await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread textarea")).to_be_focused()
    await page.keyboard.type("2: about 10k rps")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread .row").last).to_contain_text("2: about 10k rps")
    await expect(board).to_contain_text("4 replies")
    await page.keyboard.press("Escape")
    await expect(page.locator("#thread")).to_be_hidden()
    await expect(board).to_be_focused()
    assert sample.ws.thread("general", sample.board)[-1]["text"] == "2: about 10k rps"


async def test_mentions_are_sent_as_ids(page: Page, sample: Sample) -> None:
    area = page.get_by_label("Message #general")
    await area.fill("@Echo A or B in #random? @Priya")
    await page.keyboard.press("Enter")
    await expect(area).to_have_value("")
    echo, priya = sample.ws.app.bot_user, sample.ws.user("priya").id
    text = f"<@{echo}> A or B in <#{sample.ws.channel('random').id}>? <@{priya}>"
    assert sample.ws.messages("general")[-1]["text"] == text


async def test_a_refused_command_stays_in_the_composer(open_page: Open, sample: Sample) -> None:
    page = await open_page(sample.thread)
    area = page.get_by_label("Reply in thread")
    await area.fill("/echo X or Y")
    await area.press("Enter")
    error = page.locator("#thread .composer-error")
    await expect(error).to_contain_text("not in threads")
    await expect(area).to_have_value("/echo X or Y")


async def fill_form(page: Page) -> None:
    await page.get_by_label("Question").fill("Postgres or MongoDB?")
    await page.get_by_label("Context").fill("Two lines\nof context")
    await page.get_by_label("Rounds").fill("2")
    await page.get_by_label("Format").select_option("Green")
    await page.get_by_label("Conversation").select_option("#random")
    for group, names in (("Agents", ("Red", "Blue")), ("People", ("Alex",)), ("Flags", ("Green",))):
        for name in names:
            await page.get_by_role("group", name=group).get_by_label(name).check()
    await page.get_by_label("Day").fill("2027-01-02")


async def test_a_form_sends_every_kind_of_input(page: Page, sample: Sample, bot: Recorder) -> None:
    await page.locator("#main .row").first.wait_for()
    sample.open_form()
    await expect(page.get_by_label("Question")).to_be_focused()
    await fill_form(page)
    await page.get_by_role("button", name="Start").click()
    await expect(page.locator("dialog")).to_have_count(0)
    values = bot.last["view"]["state"]["values"]
    sent = {block: actions["in"] for block, actions in values.items()}
    for entry in sent.values():
        entry.pop("type")
    assert sent == {
        "question": {"value": "Postgres or MongoDB?"},
        "context": {"value": "Two lines\nof context"},
        "rounds": {"value": "2"},
        "format": {"selected_option": option("Green")},
        "agents": {"selected_options": [option("Red"), option("Blue")]},
        "people": {"selected_users": [sample.ws.user("alex").id]},
        "place": {"selected_conversation": sample.ws.channel("random").id},
        "flags": {"selected_options": [option("Green")]},
        "day": {"selected_date": "2027-01-02"},
    }


async def test_a_form_shows_what_is_wrong_at_the_field(
    page: Page, sample: Sample, bot: Recorder
) -> None:
    await page.locator("#main .row").first.wait_for()
    sample.open_form()
    await page.get_by_label("Rounds").fill("")
    await page.get_by_role("button", name="Start").click()
    errors = page.locator(".field-error:visible")
    # The question, the rounds, the agents, the people.
    await expect(errors).to_have_text(["Please fill in this field."] * 4)
    await expect(page.get_by_label("Question")).to_be_focused()
    assert bot.bodies == []

    await fill_form(page)
    refusal = {"response_action": "errors", "errors": {"rounds": "Two rounds are too few."}}
    bot.acks["submission"] = refusal
    await page.get_by_role("button", name="Start").click()
    await expect(errors).to_have_text("Two rounds are too few.")
    await expect(page.get_by_label("Rounds")).to_be_focused()


async def test_focus_stays_in_a_form_and_returns_after_it(page: Page, sample: Sample) -> None:
    await page.locator("#main .row").first.wait_for()
    await page.get_by_label("Message #general").focus()
    sample.open_form()
    await page.locator("dialog").wait_for()
    for _ in range(40):
        await page.keyboard.press("Tab")
        inside = (
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
        assert await page.evaluate(inside)
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    await expect(page.get_by_label("Message #general")).to_be_focused()
    await sample.ws.wait_for(lambda: not sample.ws.views("dana"))


async def test_an_updated_view_keeps_what_was_typed(page: Page, sample: Sample) -> None:
    await page.locator("#main .row").first.wait_for()
    view, dana = sample.open_form(), sample.ws.user("dana").id
    await page.get_by_label("Question").fill("Half a question")
    replace_view(sample.ws.runtime, dana, view, {**FORM, "title": plain("Start it")})
    await expect(page.get_by_role("heading", name="Start it")).to_be_visible()
    await expect(page.get_by_label("Question")).to_have_value("Half a question")
    close(sample.ws.runtime, dana)
    await expect(page.locator("dialog")).to_have_count(0)


async def test_a_button_with_a_confirmation_asks_first(
    page: Page, sample: Sample, bot: Recorder
) -> None:
    stop = page.locator("#main").get_by_role("button", name="Stop")
    await stop.click()
    await expect(page.get_by_role("heading", name="Stop the poll?")).to_be_visible()
    await page.get_by_role("button", name="Go on").click()
    assert bot.bodies == []
    await stop.click()
    await page.get_by_role("button", name="Stop it").click()
    await expect(page.locator("dialog")).to_have_count(0)
    await sample.ws.wait_for(lambda: bot.bodies)
    assert bot.last["actions"][0]["action_id"] == "stop"
    assert bot.last["message"]["ts"] == sample.board


async def test_a_message_that_changes_keeps_the_focus_on_its_button(
    page: Page, sample: Sample
) -> None:
    pause = row(page, sample.board).get_by_role("button", name="Pause")
    await pause.focus()
    where = {"channel": sample.ws.channel("general").id, "ts": sample.board}
    await sample.client.chat_update(**where, text="Poll", blocks=[section("Round 3"), BOARD[-1]])
    await expect(row(page, sample.board)).to_contain_text("Round 3")
    await expect(pause).to_be_focused()


async def test_every_block_is_drawn_and_feedback_is_sent(
    open_page: Open, sample: Sample, bot: Recorder
) -> None:
    page = await open_page(sample.address("architecture"))
    await page.get_by_role("button", name="Good").click()
    await expect(page.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    await sample.ws.wait_for(lambda: bot.bodies)
    assert bot.last["actions"][0]["value"] == "yes"
    empty = await page.eval_on_selector_all(
        ".block:not(.block-divider)",
        "all => all.filter(node => !node.innerText.trim() && !node.querySelector('svg')).length",
    )
    assert empty == 0
    # Every value of a chart is there as text.
    bars = page.locator(".chart")
    await expect(bars.locator("figcaption")).to_have_text("How likely each option is the best")
    await expect(bars.locator(".chart-row")).to_have_text(
        ["PostgreSQL78%", "Kafka, on machines…22%"]
    )
    share = "node => node.getBoundingClientRect().width / node.parentNode.clientWidth"
    assert round(await bars.locator(".chart-bar").first.evaluate(share), 2) == 0.78


async def test_a_thread_shows_its_agents_session_with_stop_while_it_works(
    open_page: Open, sample: Sample
) -> None:
    page = await open_page(sample.thread)
    bar = page.locator("#thread .session")
    await expect(page.locator("#thread .row").first).to_be_visible()
    await expect(bar).to_be_hidden()
    place = {"channel_id": sample.ws.channel("general").id, "thread_ts": sample.board}
    set_status = sample.client.agents_sessions_setStatus
    await set_status(**place, title="Kafka?", status="processing")
    await expect(bar).to_have_text("At work · Kafka?Stop")
    await bar.get_by_role("button", name="Stop").click()
    await sample.ws.wait_for(
        lambda: any(told.name == "agent_session_stopped" for told in sample.ws.deliveries)
    )
    await set_status(**place, status="active")
    await expect(bar).to_have_text("Done for now · Kafka?")


async def test_live_messages_change_only_their_own_row(open_page: Open, sample: Sample) -> None:
    ws, channel = sample.ws, sample.ws.channel("random")
    for n in range(1000):
        post(ws.runtime, channel, {"user": ws.user("alex").id, "text": f"*{n}*"})
    history = ws.messages("random")
    page = await open_page(sample.address("random"))
    await expect(page.locator("#main .row")).to_have_count(1000)
    await page.evaluate(
        """() => {
          window.touched = new Set();
          const rowOf = (node) => node.closest?.(".row")?.dataset.ts;
          const note = (node) => rowOf(node) && touched.add(rowOf(node));
          new MutationObserver((all) => all.forEach((change) => {
            note(change.target); change.addedNodes.forEach(note);
          })).observe(document.querySelector("#main .messages"), {childList: true, subtree: true});
        }"""
    )
    new = await ws.say("sam", "random", "number 1001")
    await expect(page.locator("#main .row")).to_have_count(1001)
    await expect(page.locator("#main .row").last).to_be_in_viewport()
    await ws.edit("alex", "random", history[5]["ts"], "edited")
    await expect(page.locator("#main .row").nth(5)).to_contain_text("edited (edited)")
    await ws.delete("alex", "random", history[6]["ts"])
    await expect(page.locator("#main .row")).to_have_count(1000)
    touched = await page.evaluate("[...window.touched]")
    assert set(touched) <= {new["ts"], history[5]["ts"], history[7]["ts"]}


async def test_the_reader_is_not_pulled_away_from_old_messages(
    open_page: Open, sample: Sample
) -> None:
    for n in range(40):
        await sample.ws.say("alex", "random", f"line {n}")
    page = await open_page(sample.address("random"))
    last = page.locator("#main .row").last
    await expect(last).to_be_in_viewport()
    await page.locator("#main .scroll-box").hover()
    await page.mouse.wheel(0, -400)
    await expect(last).not_to_be_in_viewport()
    await sample.ws.say("alex", "random", "while you read")
    await sample.ws.say("alex", "random", "and more")
    pill = page.get_by_role("button", name="2 new messages")
    await expect(pill).to_be_visible()
    await expect(last).not_to_be_in_viewport()
    await pill.click()
    await expect(last).to_be_in_viewport()
    await expect(pill).to_be_hidden()


async def test_the_page_opens_a_channel_and_marks_what_is_said_elsewhere(
    open_page: Open, sample: Sample
) -> None:
    page = await open_page()
    await expect(page).to_have_url(re.compile(f"{sample.address()}$"))
    await sample.ws.say("alex", "random", "over here")
    link = page.get_by_role("link", name="random")
    await expect(link.locator(".badge")).to_have_text("1")
    await link.click()
    await expect(link.locator(".badge")).to_have_count(0)


async def test_a_lost_connection_is_shown_and_healed(page: Page, sample: Sample) -> None:
    open_sockets: list[WebSocketRoute] = []
    away = [False]

    async def pass_on(socket: WebSocketRoute) -> None:
        if away[0]:
            await socket.close()
        else:
            socket.connect_to_server()
            open_sockets.append(socket)

    await page.route_web_socket("**/page/ws*", pass_on)
    await page.reload()
    await page.locator("#main .row").first.wait_for()
    bar = page.locator("#connection-bar")
    away[0] = True
    await open_sockets[0].close()
    await expect(bar).to_contain_text("Connection lost")
    await sample.ws.say("alex", "general", "said in the gap")
    away[0] = False
    await expect(bar).to_be_hidden()
    await expect(page.locator("#main .row").last).to_contain_text("said in the gap")


async def test_what_overtakes_the_answer_to_a_fetch_is_not_lost(page: Page, sample: Sample) -> None:
    await page.locator("#main .row").last.wait_for()
    fetched, go_on = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        fetched.set()
        await go_on.wait()
        await route.fulfill(response=answer)

    await page.route("**/threads/**", hold)
    await page.goto(f"{sample.ws.url}{sample.thread}")
    await fetched.wait()
    await sample.ws.say("alex", "general", "I was faster.", sample.board)
    await expect(page.locator("#main")).to_contain_text("4 replies")
    go_on.set()
    await expect(page.locator("#thread .row").last).to_contain_text("I was faster.")


async def test_an_app_that_is_away_is_named(page: Page, sample: Sample, bot: Recorder) -> None:
    bar = page.locator("#app-bar")
    await expect(bar).to_be_hidden()
    sample.ws.revoke_token()
    await expect(bar).to_contain_text("Echo is not connected")
    sample.ws.restore_token()
    await expect(bar).to_be_hidden()


async def test_a_failed_command_and_a_private_note_are_shown(page: Page, sample: Sample) -> None:
    note = page.locator("#main .row").last
    await expect(note).to_contain_text("Only visible to you")
    await expect(note).to_contain_text("psst")
    with pytest.raises(PersonRefusal):
        await sample.ws.command("dana", "general", "/echo")
    await expect(page.get_by_role("alert").filter(has_text="/echo failed")).to_be_visible()


async def test_pins_mark_messages_and_fill_the_strip(page: Page, sample: Sample) -> None:
    first = sample.ws.messages("general")[0]["ts"]
    pin(sample.ws.runtime, sample.ws.channel("general"), first, sample.ws.user("sam").id)
    await expect(row(page, first).locator(".pin-mark")).to_be_visible()
    await page.locator("summary", has_text="2 pinned").click()
    await page.locator("li .pinned-row").nth(1).click()
    await expect(row(page, sample.board)).to_be_focused()


async def test_a_message_shortcut_is_at_the_message(
    page: Page, sample: Sample, bot: Recorder
) -> None:
    message = sample.ws.messages("general")[0]
    await row(page, message["ts"]).hover()
    await row(page, message["ts"]).get_by_role("button", name="Echo this").click()
    await sample.ws.wait_for(lambda: bot.bodies)
    assert (bot.last["callback_id"], bot.last["message_ts"]) == ("echo_this", message["ts"])


async def test_agents_have_their_own_name_and_icon(open_page: Open, sample: Sample) -> None:
    page = await open_page(sample.thread)
    reply = page.locator("#thread .row").nth(1)
    await expect(reply.locator(".author")).to_have_text("Architect")
    # Its initial if no font has the emoji.
    await expect(reply.locator(".avatar")).to_have_text(re.compile("🏗️|AR?"))
    await expect(reply.locator(".app-tag")).to_have_text("APP")
    await expect(page.locator("#thread .row").last).to_contain_text("Also sent to the channel")
    broadcast = page.locator("#main .row").filter(has_text="replied to a thread")
    await expect(broadcast.locator(".mark a")).to_have_attribute("href", sample.thread)


async def test_a_text_file_can_be_read_in_place(page: Page, sample: Sample) -> None:
    await page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Preview of decision.md")
    await expect(preview).to_contain_text("# Decision")
    download = page.get_by_label("Download decision.md")
    await expect(download).to_have_attribute("download", "decision.md")


async def test_the_home_of_the_app_is_shown_and_follows_it(
    open_page: Open, sample: Sample, bot: Recorder
) -> None:
    page = await open_page("#/home")
    await expect(page.get_by_role("heading", name="Your polls")).to_be_visible()
    await page.get_by_role("button", name="New poll").click()
    await sample.ws.wait_for(lambda: bot.bodies)
    assert bot.last["container"]["type"] == "view"
    view = {**HOME, "blocks": [{"type": "header", "text": plain("None left")}]}
    await sample.client.views_publish(user_id=sample.ws.user("dana").id, view=view)
    await expect(page.get_by_role("heading", name="None left")).to_be_visible()


async def test_a_person_acts_as_another(page: Page, sample: Sample) -> None:
    await page.get_by_label("You act as").select_option("Alex")
    await page.wait_for_url(f"**user={sample.ws.user('alex').id}**")
    area = page.get_by_label("Message #general")
    await area.fill("as Alex")
    await area.press("Enter")
    await expect(area).to_have_value("")
    assert sample.ws.messages("general")[-1]["user"] == sample.ws.user("alex").id


async def test_archived_and_foreign_channels_cannot_be_written_in(
    open_page: Open, sample: Sample
) -> None:
    sample.ws.archive("security-review")
    await sample.ws.channel_action("dana", "leave", channel="random")
    page = await open_page(sample.address("security-review"))
    await expect(page.locator("#main")).to_contain_text("This channel is archived")
    await expect(page.locator("#main textarea")).to_have_count(0)
    await page.get_by_role("link", name="random").click()
    await page.get_by_role("button", name="Join channel").click()
    await expect(page.get_by_label("Message #random")).to_be_visible()
    assert sample.ws.user("dana").id in sample.ws.channel("random").members


@pytest.mark.parametrize("place", ["list", "channel", "thread", "gallery", "home"])
async def test_a_phone_shows_one_pane_and_never_scrolls_sideways(
    open_page: Open, sample: Sample, place: str
) -> None:
    addresses = {
        "list": "",
        "channel": sample.address(),
        "thread": sample.thread,
        "gallery": sample.address("architecture"),
        "home": "#/home",
    }
    page = await open_page(addresses[place], phone=True)
    await page.wait_for_load_state("networkidle")
    panes = await page.locator("#sidebar:visible, #main:visible, #thread:visible").count()
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert panes == 1
    assert width <= 360
    wide = await page.evaluate(
        """() => [...document.querySelectorAll("#frame *")].filter((node) => {
          const box = node.getBoundingClientRect();
          return box.right > innerWidth + 1 && !node.closest(".table-box, .mark");
        }).map((node) => node.outerHTML)"""
    )
    assert wide == []


async def test_the_guide_says_what_to_look_at_opens_the_thread_and_types(
    page: Page, sample: Sample
) -> None:
    bar, area = page.get_by_role("region", name="Guide"), page.locator("#main textarea")
    await expect(bar).to_be_hidden()
    own = GuideButton(label="Ask your own", types="/echo ")
    another = GuideButton(label="Watch another", name="another")
    place = (sample.ws.channel("general").id, sample.board)
    beside = GuideLine(text="Agents argue in the thread.", thread=place, buttons=[own, another])
    sample.ws.show_guide(beside)
    await expect(bar).to_contain_text("Agents argue in the thread.")
    await expect(page.locator("#thread")).to_be_visible()

    await bar.get_by_role("button", name="Ask your own").click()
    await expect(area).to_have_value("/echo ")
    await expect(area).to_be_focused()
    await bar.get_by_role("button", name="Watch another").click()
    assert await sample.ws.guide_pressed() == "another"
    # After a press by keyboard, the focus moves to the replacing button.
    await bar.get_by_role("button", name="Watch another").focus()
    renamed = GuideButton(label="Next step", name="another")
    sample.ws.show_guide(GuideLine(text="Look.", buttons=[own, renamed]))
    await expect(bar.get_by_role("button", name="Next step")).to_be_focused()
    await area.fill("")
    await page.evaluate("document.activeElement.blur()")
    sample.ws.show_guide(replace(beside, message=sample.board))
    revealed = page.locator("#main .row.revealed")
    await expect(revealed).to_have_attribute("data-ts", sample.board)
    await expect(page.locator("#thread")).to_be_visible()

    # The guide does not reopen a closed thread or change a draft.
    await page.get_by_role("link", name=re.compile("Close")).click()
    sample.ws.show_guide(replace(beside, message=sample.board, text="Look here."))
    await expect(bar).to_contain_text("Look here.")
    await expect(page.locator("#thread")).to_be_hidden()
    sample.ws.show_guide(None)
    await expect(bar).to_be_hidden()


async def test_on_a_phone_the_guide_shows_its_message_in_the_channel(
    open_page: Open, sample: Sample
) -> None:
    page = await open_page(sample.address(), phone=True)
    await page.locator("#main .row").last.wait_for()
    place = (sample.ws.channel("general").id, sample.board)
    sample.ws.show_guide(GuideLine(text="Look.", thread=place))
    await expect(page.get_by_role("region", name="Guide")).to_contain_text("Look.")
    await expect(page.locator("#thread")).to_be_hidden()
    sample.ws.show_guide(GuideLine(text="Look.", thread=place, message=sample.board))
    revealed = page.locator("#main .row.revealed")
    await expect(revealed).to_have_attribute("data-ts", sample.board)
    await expect(revealed.locator(".header-block")).to_be_in_viewport()


async def test_a_message_stays_in_view_while_what_stands_above_it_changes(
    open_page: Open, sample: Sample
) -> None:
    page = await open_page(sample.address(), phone=True)
    above = sample.ws.messages("general")[1]["ts"]

    async def change(text: str) -> None:
        await sample.ws.edit("sam", "general", above, text)
        await expect(page.locator("#main")).to_contain_text(text[:5])

    await change("Long.\n" * 40)
    place = (sample.ws.channel("general").id, sample.board)
    sample.ws.show_guide(GuideLine(text="Look.", thread=place, message=sample.board))
    head = row(page, sample.board).locator(".header-block")
    await expect(head).to_be_in_viewport()
    await change("Short.")
    await expect(head).to_be_in_viewport()
    # A page that a person scrolls stays in place.
    box = page.locator("#main .scroll-box")
    await box.dispatch_event("wheel")
    await box.evaluate("box => box.scrollTo(0, 0)")
    await change("Long.\n" * 40)
    await expect(page.locator("#main .row").first).to_be_in_viewport()


async def test_a_button_of_the_guide_puts_the_focus_on_its_messages_primary_button_each_time(
    open_page: Open, sample: Sample
) -> None:
    page = await open_page(sample.address(), phone=True)
    place = (sample.ws.channel("general").id, sample.board)
    vote = GuideButton(label="Vote", shows=place)
    sample.ws.show_guide(GuideLine(text="Look.", buttons=[vote]))
    primary = row(page, sample.board).get_by_role("button", name="Vote now")
    for _ in range(2):
        await page.locator("#main .scroll-box").evaluate("box => box.scrollTo(0, 0)")
        await page.get_by_role("region", name="Guide").get_by_role("button").click()
        await expect(primary).to_be_focused()
        await expect(primary).to_be_in_viewport()
