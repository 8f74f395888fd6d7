"""The page of the workspace in a real browser, against a small server that speaks its contract."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Request, Route, expect

from tests.browser import sample
from tests.browser.conftest import Open
from tests.browser.page_server import PageServer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

SHOTS = Path(__file__).parents[2] / "artefacts" / "screenshots"
NASTY = "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"


async def shoot(page: Page, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SHOTS / f"{name}.png")


def thread_address() -> str:
    return f"#/C1/{sample.BOARD_TS}"


async def test_text_of_people_and_models_is_never_markup(
    open_page: Open, server: PageServer
) -> None:
    cell = {"type": "raw_text", "text": NASTY}
    blocks = [
        {"type": "section", "block_id": "x2", "text": sample.mrkdwn(f"{NASTY} <javascript:x|go>")},
        {"type": "table", "rows": [[cell], [cell]]},
        {
            "type": "actions",
            "block_id": "x3",
            "elements": [sample.button(NASTY, "x", url="javascript:x")],
        },
    ]
    page = await open_page("#/C2")
    await server.post("C2", user="U2", username=NASTY, bot_id="B1", text=NASTY, blocks=blocks)
    await server.post(
        "C2", user="U2", text=NASTY, files=[{"id": "F", "name": NASTY, "url_private": "/files/F/x"}]
    )
    row = page.locator("#main .row").last
    await expect(row).to_contain_text("<script>window.pwned=1</script>")

    assert await page.evaluate("window.pwned") is None
    assert await page.locator("#main script, #main img").count() == 0
    links = await page.eval_on_selector_all(
        "#main a[target]", "all => all.map(a => [a.protocol, a.rel])"
    )
    assert links
    assert {scheme for scheme, _ in links} <= {"http:", "https:", "mailto:"}
    assert {rel for _, rel in links} == {"noopener noreferrer"}


async def test_the_page_asks_no_other_host(open_page: Open, server: PageServer) -> None:
    page = await open_page("#/C2")
    urls: list[str] = []

    def note(request: Request) -> None:
        urls.append(request.url)

    page.on("request", note)
    await page.reload()
    await page.locator("#main .row").first.wait_for()
    assert urls
    assert [url for url in urls if not url.startswith((server.url, "data:"))] == []


async def test_a_thread_is_read_and_answered_by_keyboard_alone(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page()
    await page.locator("#main .row").last.wait_for()
    await page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    await page.keyboard.press("Tab")
    await expect(page.locator("#skip")).to_be_focused()
    await page.keyboard.press("Enter")
    board = page.locator(f'#main .row[data-ts="{sample.BOARD_TS}"]')
    while not await board.evaluate("node => node === document.activeElement"):
        await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread textarea")).to_be_focused()
    await page.keyboard.type("2: about 10k rps")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread .row").last).to_contain_text("2: about 10k rps")
    await expect(board).to_contain_text("6 replies")
    await page.keyboard.press("Escape")
    await expect(page.locator("#thread")).to_be_hidden()
    await expect(board).to_be_focused()
    posts = await server.sent("say")
    assert posts == [
        {"user": "U1", "channel": "C1", "text": "2: about 10k rps", "thread_ts": sample.BOARD_TS}
    ]


async def test_every_control_has_a_name(open_page: Open, server: PageServer) -> None:
    page = await open_page(thread_address())
    await page.locator("#thread .row").first.wait_for()
    await server.open_view(sample.MODAL)
    await page.locator("dialog").wait_for()
    nameless = await page.evaluate(
        """() => [
          ...document.querySelectorAll("button, a[href], input, textarea, select")
        ].filter(node => node.checkVisibility() && !node.getAttribute("aria-label") &&
          !node.textContent.trim() && !node.labels?.length
        ).map(node => node.outerHTML)"""
    )
    assert nameless == []


async def test_mentions_are_sent_as_ids(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    area = page.get_by_label("Message #architecture")
    await area.fill("@Tally A or B in #gallery? @Ann Lee")
    await page.keyboard.press("Enter")
    await expect(area).to_have_value("")
    assert [body["text"] for body in (await server.sent("say"))] == ["<@UB> A or B in <#C2>? <@U1>"]


async def test_a_refused_command_stays_in_the_composer(open_page: Open) -> None:
    page = await open_page(thread_address())
    area = page.get_by_label("Reply in thread")
    await area.fill("/poll X or Y")
    await area.press("Enter")
    await expect(page.locator("#thread .composer-error")).to_contain_text("do not work in threads")
    await expect(area).to_have_value("/poll X or Y")


#: What `fill_form` and the initial values make of the sample form.
FILLED: dict[str, Any] = {
    "question": {"value": "Postgres or MongoDB?"},
    "context": {"value": "Two lines\nof context"},
    "rounds": {"value": "2"},
    "format": {"selected_option": sample.option("Green")},
    "agents": {"selected_options": [sample.option("Red", "warm"), sample.option("Blue")]},
    "people": {"selected_users": ["U1", "U2", "U3"]},
    "place": {"selected_conversation": "C1"},
    "flags": {"selected_options": [sample.option("Green")]},
    "day": {"selected_date": "2027-01-02"},
}


async def fill_form(page: Page) -> None:
    await page.get_by_label("Question").fill("Postgres or MongoDB?")
    await page.get_by_label("Context").fill("Two lines\nof context")
    await page.get_by_label("Rounds").fill("2")
    await page.get_by_label("Format").select_option("Green")
    for group, *names in (
        ("Agents", "Red", "Blue"),
        ("People", "Ann Lee", "Chi"),
        ("Flags", "Green"),
    ):
        for name in names:
            await page.get_by_role("group", name=group).get_by_label(name).check()
    await page.get_by_label("Day").fill("2027-01-02")


async def test_a_form_sends_every_kind_of_input(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await server.open_view(sample.MODAL)
    await expect(page.get_by_label("Question")).to_be_focused()
    await shoot(page, "modal-light")
    await fill_form(page)
    await page.get_by_role("button", name="Start").click()
    await expect(page.locator("dialog")).to_have_count(0)

    values = (await server.sent("view/submit"))[0]["values"]
    sent = {block: actions["in"] for block, actions in values.items()}
    for entry in sent.values():
        entry.pop("type")
    assert sent == FILLED


async def test_a_form_shows_what_is_wrong_at_the_field(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await server.open_view(sample.MODAL)
    await page.get_by_label("Question").fill("Why")
    await page.get_by_label("Rounds").fill("")
    await page.get_by_role("button", name="Start").click()
    errors = page.locator(".field-error:visible")
    await expect(errors).to_have_text(
        [
            "Please write at least 5 characters.",
            "Please fill in this field.",
            "Please fill in this field.",
        ]
    )
    await expect(page.get_by_label("Question")).to_be_focused()
    await shoot(page, "modal-errors")
    assert server.bodies("view/submit") == []

    await fill_form(page)
    refusal = {"response_action": "errors", "errors": {"rounds": "Two rounds are too few."}}
    server.answers["view/submit"] = {"ok": True, "response": refusal}
    await page.get_by_role("button", name="Start").click()
    await expect(errors).to_have_text("Two rounds are too few.")
    await expect(page.get_by_label("Rounds")).to_be_focused()


async def test_focus_stays_in_a_form_and_returns_after_it(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await page.get_by_label("Message #architecture").focus()
    await server.open_view(sample.MODAL)
    await page.locator("dialog").wait_for()
    for _ in range(40):
        await page.keyboard.press("Tab")
        inside = (
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
        assert await page.evaluate(inside)
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    await expect(page.get_by_label("Message #architecture")).to_be_focused()
    assert (await server.sent("view/close")) == [{"user": "U1", "view_id": "V1"}]


async def test_an_updated_view_keeps_what_was_typed(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await server.open_view(sample.MODAL)
    await page.get_by_label("Question").fill("Half a question")
    changed = {**sample.MODAL, "title": sample.plain("Start it")}
    await server.open_view(changed, "view_updated")
    await expect(page.get_by_role("heading", name="Start it")).to_be_visible()
    await expect(page.get_by_label("Question")).to_have_value("Half a question")
    await server.emit({"type": "view_closed", "view_id": "V1"})
    await expect(page.locator("dialog")).to_have_count(0)


async def test_a_button_with_a_confirmation_asks_first(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    stop = page.locator("#main").get_by_role("button", name="Stop")
    await stop.click()
    await expect(page.get_by_role("heading", name="Stop the poll?")).to_be_visible()
    await page.get_by_role("button", name="Go on").click()
    assert server.bodies("click") == []
    await stop.click()
    await page.get_by_role("button", name="Stop it").click()
    await expect(page.locator("dialog")).to_have_count(0)
    assert await server.sent("click") == [
        {
            "user": "U1",
            "channel": "C1",
            "message_ts": sample.BOARD_TS,
            "block_id": "b5",
            "action_id": "stop",
            "type": "button",
            "value": "stop",
            "values": {},
        }
    ]


async def test_elements_in_messages_send_what_was_chosen(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C2")
    await page.get_by_label("Pick one").select_option("Green")
    await page.get_by_role("button", name="Good").click()
    await expect(page.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    sent = [
        (body["action_id"], body.get("selected_option") or body["value"])
        for body in await server.sent("click", 2)
    ]
    assert sent == [
        ("pick", sample.option("Green")),
        ("useful", "yes"),
    ]


async def test_every_block_is_drawn_or_named(open_page: Open) -> None:
    page = await open_page("#/C2", size={"width": 1360, "height": 1700})
    await page.locator(".block-rich_text").wait_for()
    await shoot(page, "gallery-light")
    await expect(page.locator(".not-drawn")).to_have_text("block “rich_text” is not drawn here")
    empty = await page.eval_on_selector_all(
        ".block:not(.block-divider)",
        "all => all.filter(node => !node.innerText.trim() && !node.querySelector('svg')).length",
    )
    assert empty == 0


async def test_a_thread_shows_its_agents_session_with_stop_while_it_works(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page(thread_address())
    bar = page.locator("#thread .session")
    await expect(page.locator("#thread .row").first).to_be_visible()
    await expect(bar).to_be_hidden()
    root = next(message for message in server.messages["C1"] if message["ts"] == sample.BOARD_TS)
    working = {"title": "Kafka?", "status": "processing"}
    await server.emit({"type": "message_changed", "message": {**root, "agent_session": working}})
    await expect(bar).to_have_text("At work · Kafka?Stop")
    await bar.get_by_role("button", name="Stop").click()
    (body,) = await server.sent("session/stop", 1)
    assert (body["channel"], body["ts"]) == ("C1", sample.BOARD_TS)
    message = {**root, "agent_session": {**working, "status": "active"}}
    await server.emit({"type": "message_changed", "message": message})
    await expect(bar).to_have_text("Done for now · Kafka?")


async def test_a_chart_says_every_value_in_words(open_page: Open) -> None:
    page = await open_page("#/C2", size={"width": 1360, "height": 1700})
    bars = page.locator(".chart")
    await expect(bars.locator("figcaption")).to_have_text("How likely each option is the best")
    await expect(bars.locator(".chart-row")).to_have_text(
        ["PostgreSQL78%", "Kafka, on machines…22%"]
    )
    share = "node => node.getBoundingClientRect().width / node.parentNode.clientWidth"
    assert round(await bars.locator(".chart-bar").first.evaluate(share), 2) == 0.78


async def test_live_messages_change_only_their_own_row(open_page: Open, server: PageServer) -> None:
    history = [
        {
            "type": "message",
            "ts": f"{1700000000 + n}.000000",
            "channel": "C3",
            "user": "U2",
            "text": f"*{n}*",
        }
        for n in range(1000)
    ]
    server.messages["C3"] = history
    page = await open_page("#/C3")
    await expect(page.locator("#main .row")).to_have_count(1000)
    await page.evaluate(
        """() => {
          window.touched = new Set();
          const rowOf = (node) => node.closest?.(".row")?.dataset.ts;
          const note = (node) => rowOf(node) && touched.add(rowOf(node));
          new MutationObserver((all) => all.forEach((one) => {
            note(one.target); one.addedNodes.forEach(note);
          })).observe(document.querySelector("#main .messages"), {childList: true, subtree: true});
        }"""
    )
    new = await server.post("C3", user="U3", text="number 1001")
    await expect(page.locator("#main .row")).to_have_count(1001)
    await expect(page.locator("#main .row").last).to_be_in_viewport()
    changed = {**history[5], "text": "edited", "edited": {"user": "U2", "ts": "1700009999.000000"}}
    await server.emit({"type": "message_changed", "message": changed})
    await expect(page.locator("#main .row").nth(5)).to_contain_text("edited (edited)")
    await server.emit({"type": "message_deleted", "channel": "C3", "ts": history[6]["ts"]})
    await expect(page.locator("#main .row")).to_have_count(1000)
    touched = await page.evaluate("[...window.touched]")
    assert set(touched) <= {new["ts"], history[5]["ts"], history[7]["ts"]}


async def test_the_reader_is_not_pulled_away_from_old_messages(
    open_page: Open, server: PageServer
) -> None:
    for n in range(40):
        await server.post("C3", user="U2", text=f"line {n}")
    page = await open_page("#/C3")
    await expect(page.locator("#main .row").last).to_be_in_viewport()
    await page.locator("#main .scroll-box").hover()
    await page.mouse.wheel(0, -400)
    await expect(page.locator("#main .row").last).not_to_be_in_viewport()
    await server.post("C3", user="U2", text="while you read")
    await server.post("C3", user="U2", text="and more")
    pill = page.get_by_role("button", name="2 new messages")
    await expect(pill).to_be_visible()
    await expect(page.locator("#main .row").last).not_to_be_in_viewport()
    await shoot(page, "new-messages")
    await pill.click()
    await expect(page.locator("#main .row").last).to_be_in_viewport()
    await expect(pill).to_be_hidden()


async def test_the_page_opens_a_channel_and_marks_what_is_said_elsewhere(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("")
    await expect(page).to_have_url(re.compile("#/C1$"))
    await server.post("C2", user="U2", text="over here")
    link = page.get_by_role("link", name="gallery")
    await expect(link.locator(".badge")).to_have_text("1")
    await link.click()
    await expect(link.locator(".badge")).to_have_count(0)


async def test_a_lost_connection_is_shown_and_healed(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    bar = page.locator("#connection-bar")
    server.is_away = True
    await server.hang_up()
    await expect(bar).to_contain_text("Connection lost")
    await shoot(page, "connection-lost")
    await server.post("C1", user="U2", text="said in the gap")
    server.is_away = False
    await expect(bar).to_be_hidden()
    await expect(page.locator("#main .row").last).to_contain_text("said in the gap")


async def test_what_overtakes_the_answer_to_a_fetch_is_not_lost(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page()
    await page.locator("#main .row").last.wait_for()
    fetched, go_on = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        fetched.set()
        await go_on.wait()
        await route.fulfill(response=answer)

    await page.route("**/threads/**", hold)
    await page.goto(f"{server.url}/#/C1/{sample.BOARD_TS}")
    await fetched.wait()
    await server.post("C1", user="U2", text="I was faster.", thread_ts=sample.BOARD_TS)
    await expect(page.locator("#main")).to_contain_text("6 replies")
    go_on.set()
    await expect(page.locator("#thread .row").last).to_contain_text("I was faster.")


async def test_an_app_that_is_away_is_named(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await server.emit({"type": "apps", "apps": [{**server.apps[0], "connected": False}]})
    await expect(page.locator("#apps-bar")).to_contain_text("Tally is not connected")
    await server.emit({"type": "apps", "apps": server.apps})
    await expect(page.locator("#apps-bar")).to_be_hidden()


async def test_a_failed_command_and_a_private_note_are_shown(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page()
    await page.locator("#main .row").first.wait_for()
    await server.emit({"type": "command_failed", "text": "/poll failed: no answer"}, user="U1")
    await expect(page.get_by_role("alert").filter(has_text="/poll failed")).to_be_visible()
    note = {"type": "message", "ts": sample.ts(0), "channel": "C1", "user": "UB", "text": "psst"}
    await server.emit({"type": "ephemeral", "message": note}, user="U1")
    row = page.locator("#main .row").last
    await expect(row).to_contain_text("Only visible to you")
    await expect(row).to_contain_text("psst")


async def test_pins_mark_messages_and_fill_the_strip(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    row = page.locator("#main .row").first
    ts = server.messages["C1"][0]["ts"]
    await server.emit({"type": "pins", "channel": "C1", "pins": [ts, sample.BOARD_TS]})
    await expect(row.locator(".pin-mark")).to_be_visible()
    await page.locator("summary", has_text="2 pinned").click()
    await page.locator("li .pinned-row").nth(1).click()
    await expect(page.locator(f'#main .row[data-ts="{sample.BOARD_TS}"]')).to_be_focused()


async def test_a_message_shortcut_is_at_the_message(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    row = page.locator("#main .row").first
    await row.hover()
    await shoot(page, "message-toolbar")
    await row.get_by_role("button", name="Poll this").click()
    (body,) = await server.sent("shortcut")
    ts = server.messages["C1"][0]["ts"]
    assert (body["callback_id"], body["message_ts"]) == ("poll_this", ts)


async def test_agents_have_their_own_name_and_icon(open_page: Open) -> None:
    page = await open_page(thread_address())
    row = page.locator("#thread .row").nth(1)
    await expect(row.locator(".author")).to_have_text("Architect")
    # Its initial where no font has the emoji.
    await expect(row.locator(".avatar")).to_have_text(re.compile("🏗️|AR?"))
    await expect(row.locator(".app-tag")).to_have_text("APP")
    await expect(page.locator("#thread .row").last).to_contain_text("Also sent to the channel")
    broadcast = page.locator("#main .row").filter(has_text="replied to a thread")
    await expect(broadcast.locator(".mark a")).to_have_attribute("href", thread_address())
    await shoot(page, "thread-light")


async def test_a_text_file_can_be_read_in_place(open_page: Open) -> None:
    page = await open_page()
    await page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Preview of decision.md")
    await expect(preview).to_contain_text("# Decision")
    await expect(page.get_by_label("Download decision.md")).to_have_attribute(
        "download", "decision.md"
    )


async def test_the_home_of_an_app_is_shown_and_follows_it(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/home/A1")
    await expect(page.get_by_role("heading", name="Your polls")).to_be_visible()
    await page.get_by_role("button", name="New poll").click()
    view = {**sample.HOME, "blocks": [{"type": "header", "text": sample.plain("None left")}]}
    await server.emit({"type": "home", "app": "A1", "view": view})
    await expect(page.get_by_role("heading", name="None left")).to_be_visible()
    assert await server.sent("home") == [{"user": "U1", "app": "A1"}]
    assert (await server.sent("click"))[0]["view_id"] == "VH"


async def test_one_acts_as_another_user(open_page: Open, server: PageServer) -> None:
    page = await open_page()
    await page.get_by_label("You act as").select_option("Bo Winter")
    await page.wait_for_url("**user=U2**")
    area = page.get_by_label("Message #architecture")
    await area.fill("as Bo")
    await area.press("Enter")
    await expect(area).to_have_value("")
    assert (await server.sent("say"))[0]["user"] == "U2"


async def test_archived_and_foreign_channels_cannot_be_written_in(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C5")
    await expect(page.locator("#main")).to_contain_text("This channel is archived")
    await expect(page.locator("#main textarea")).to_have_count(0)
    await page.get_by_role("link", name="random").click()
    await page.get_by_role("button", name="Join channel").click()
    joined = [{**channel, "is_member": True} for channel in server.channels]
    await server.emit({"type": "channels", "channels": joined})
    await expect(page.get_by_label("Message #random")).to_be_visible()
    assert await server.sent("channels") == [{"user": "U1", "action": "join", "channel": "C4"}]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("list", ""),
        ("channel", "#/C1"),
        ("thread", thread_address()),
        ("gallery", "#/C2"),
        ("home", "#/home/A1"),
    ],
    ids=["list", "channel", "thread", "gallery", "home"],
)
async def test_a_phone_shows_one_pane_and_never_scrolls_sideways(
    open_page: Open, name: str, address: str
) -> None:
    page = await open_page(address, phone=True)
    await page.wait_for_load_state("networkidle")
    panes = await page.locator("#sidebar:visible, #main:visible, #thread:visible").count()
    width = await page.evaluate("document.documentElement.scrollWidth")
    await shoot(page, f"phone-{name}")
    assert panes == 1
    assert width <= 360
    wide = await page.evaluate(
        """() => [...document.querySelectorAll("#frame *")].filter((node) => {
          const box = node.getBoundingClientRect();
          return box.right > innerWidth + 1 && !node.closest(".table-box, .carousel, .mark");
        }).map((node) => node.outerHTML)"""
    )
    assert wide == []


async def test_the_guide_says_what_to_look_at_opens_the_thread_and_types(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C1")
    bar = page.get_by_role("region", name="Guide")
    await expect(bar).to_be_hidden()
    plain = {"shows": "", "types": "", "name": ""}
    buttons = [
        {**plain, "label": "Ask your own", "types": "/poll "},
        {**plain, "label": "Watch another", "name": "another"},
    ]
    guide = {"text": "Agents argue in the thread.", "thread": [], "message": "", "buttons": buttons}
    await server.emit({"type": "guide", "guide": {**guide, "thread": ["C1", sample.BOARD_TS]}})
    await expect(bar).to_contain_text("Agents argue in the thread.")
    await expect(page.locator("#thread")).to_be_visible()

    await bar.get_by_role("button", name="Ask your own").click()
    await expect(page.locator("#main textarea")).to_have_value("/poll ")
    await expect(page.locator("#main textarea")).to_be_focused()
    async with page.expect_request("**/page/api/guide") as request:
        await bar.get_by_role("button", name="Watch another").click()
    assert ((await request.value).post_data_json or {})["name"] == "another"
    # Who pressed by keyboard stays on the button that takes its place.
    await bar.get_by_role("button", name="Watch another").focus()
    renamed = [buttons[0], {**buttons[1], "label": "Next step"}]
    await server.emit({"type": "guide", "guide": {**guide, "buttons": renamed}})
    await expect(bar.get_by_role("button", name="Next step")).to_be_focused()
    await page.locator("#main textarea").fill("")
    await page.evaluate("document.activeElement.blur()")
    thread = {"thread": ["C1", sample.BOARD_TS], "message": sample.BOARD_TS}
    await server.emit({"type": "guide", "guide": {**guide, **thread}})
    await expect(page.locator("#main .row.revealed")).to_have_attribute("data-ts", sample.BOARD_TS)
    await expect(page.locator("#thread")).to_be_visible()

    # What somebody closed, or types in, is left alone.
    await page.get_by_role("link", name=re.compile("Close")).click()
    await server.emit({"type": "guide", "guide": {**guide, **thread}})
    await expect(page.locator("#thread")).to_be_hidden()
    await server.emit({"type": "guide", "guide": None})
    await expect(bar).to_be_hidden()


async def test_on_a_phone_the_guide_shows_its_message_in_the_channel(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C1", phone=True)
    await page.locator("#main .row").last.wait_for()
    guide = {"text": "Look.", "thread": ["C1", sample.BOARD_TS], "message": "", "buttons": []}
    await server.emit({"type": "guide", "guide": guide})
    await expect(page.get_by_role("region", name="Guide")).to_contain_text("Look.")
    await expect(page.locator("#thread")).to_be_hidden()
    await server.emit({"type": "guide", "guide": {**guide, "message": sample.BOARD_TS}})
    row = page.locator("#main .row.revealed")
    await expect(row).to_have_attribute("data-ts", sample.BOARD_TS)
    await expect(row.locator(".header-block")).to_be_in_viewport()


async def test_a_message_stays_in_view_while_what_stands_above_it_changes(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C1", phone=True)
    roots = [one for one in sample.messages()["C1"] if one.get("thread_ts") in {None, one["ts"]}]
    above = roots[[one["ts"] for one in roots].index(sample.BOARD_TS) - 1]
    long, short = {**above, "text": "Long.\n" * 40}, {**above, "text": "Short."}
    await server.emit({"type": "message_changed", "message": long})
    await expect(page.locator("#main")).to_contain_text("Long.")
    guide = {"text": "Look.", "thread": ["C1", sample.BOARD_TS], "buttons": []}
    await server.emit({"type": "guide", "guide": {**guide, "message": sample.BOARD_TS}})
    head = page.locator(f'#main .row[data-ts="{sample.BOARD_TS}"] .header-block')
    await expect(head).to_be_in_viewport()
    await server.emit({"type": "message_changed", "message": short})
    await expect(page.locator("#main")).to_contain_text("Short.")
    await expect(head).to_be_in_viewport()
    # Who scrolls is left alone.
    await page.locator("#main .scroll-box").dispatch_event("wheel")
    await page.locator("#main .scroll-box").evaluate("box => box.scrollTo(0, 0)")
    await server.emit({"type": "message_changed", "message": long})
    await expect(page.locator("#main")).to_contain_text("Long.")
    await expect(page.locator("#main .row").first).to_be_in_viewport()


async def test_a_button_of_the_guide_puts_the_focus_on_its_messages_primary_button_each_time(
    open_page: Open, server: PageServer
) -> None:
    page = await open_page("#/C1", phone=True)
    shown = {"label": "Vote", "shows": f"#/C1?m={sample.BOARD_TS}&button", "types": "", "name": ""}
    guide = {"text": "Look.", "thread": [], "message": "", "buttons": [shown]}
    await server.emit({"type": "guide", "guide": guide})
    row = page.locator(f'#main .row[data-ts="{sample.BOARD_TS}"]')
    primary = row.get_by_role("button", name="Vote now")
    for _ in range(2):
        await page.locator("#main .scroll-box").evaluate("box => box.scrollTo(0, 0)")
        await page.get_by_role("region", name="Guide").get_by_role("button").click()
        await expect(primary).to_be_focused()
        await expect(primary).to_be_in_viewport()
