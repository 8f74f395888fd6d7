"""Limits of a message or view as a whole, and its interactive elements (pure).

The total size of a message's blocks is not documented; it was reported at about 13,200 characters
(bolt-js#2509) and counts the containers too, so it is measured on the compact JSON.
"""

from collections.abc import Iterator
from typing import Any, Literal

from slack_on_loopback.block_kit import block_list
from slack_on_loopback.json_values import Json, as_object, compact, objects, text_at
from slack_on_loopback.schema import problem, problems

SurfaceKind = Literal["message", "modal", "home"]
MOST_BLOCK_CHARACTERS = 13_200
_TWO_CHARTS = "no more than 2 data_visualization blocks allowed"
_MESSAGE_ONLY = {"table", "plan", "data_visualization", "context_actions"}
_MODAL_ONLY = {"input"}
#: Most blocks of a type in a message, and the error above that.
_MOST_OF_A_TYPE = {"table": (1, "only_one_table_allowed"), "data_visualization": (2, _TWO_CHARTS)}
#: Most blocks per surface, and the types it refuses.
_SURFACES = {
    "message": (block_list(50), _MODAL_ONLY),
    "modal": (block_list(100), _MESSAGE_ONLY),
    "home": (block_list(100), _MESSAGE_ONLY | _MODAL_ONLY),
}


def block_problems(value: Any, surface: SurfaceKind, path: str = "/blocks") -> list[str]:
    """Return the problems that Slack would report for a list of blocks."""
    schema, forbidden = _SURFACES[surface]
    faults, blocks = list(problems(schema, value, path)), objects(value)
    for index, block in enumerate(blocks):
        type_of = text_at(block, "type")
        if type_of in forbidden:
            words = f"block type not allowed in a {surface}: {type_of}"
            faults.append(problem(f"{path}/{index}", words))
        faults += _repeated(objects(block.get("elements")), "action_id", f"{path}/{index}/elements")
    faults += _repeated(blocks, "block_id", path)
    for name, (most, words) in _MOST_OF_A_TYPE.items():
        if sum(block.get("type") == name for block in blocks) > most:
            faults.append(problem(path, words))
    return faults


def _repeated(items: list[Json], key: str, path: str) -> Iterator[str]:
    names = set[str]()
    for index, item in enumerate(items):
        name = text_at(item, key)
        if name and name in names:
            yield problem(f"{path}/{index}/{key}", f"`{key}` {name} already exists")
        names.add(name)


def too_long(blocks: list[Json]) -> bool:
    """Whether a message's blocks are too long together (`msg_blocks_too_long`)."""
    return len(compact(blocks)) > MOST_BLOCK_CHARACTERS


def with_ids(blocks: list[Json], prefix: str) -> list[Json]:
    """Return the blocks with ids filled in for those that the app left out."""
    filled: list[Json] = []
    for index, block in enumerate(blocks):
        name = f"{prefix}{index}"
        ids: Json = {"block_id": block.get("block_id") or name}
        if block.get("type") in {"actions", "context_actions"}:
            elements = enumerate(objects(block.get("elements")))
            ids["elements"] = [
                {"action_id": f"{name}a{place}", **element} for place, element in elements
            ]
        for key in ("accessory", "element"):
            if element := as_object(block.get(key)):
                ids[key] = {"action_id": f"{name}{key[0]}", **element}
        filled.append({**block, **ids})
    return filled


def interactive_elements(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield (block_id, element) for every interactive element in the blocks."""
    for block in blocks:
        elements, block_id = objects(block.get("elements")), text_at(block, "block_id")
        own = [*elements, *objects([block.get("accessory"), block.get("element")])]
        yield from ((block_id, element) for element in own if element.get("action_id"))
        yield from interactive_elements(objects(block.get("child_blocks")))
