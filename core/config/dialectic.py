"""Writes a configuration file anew, in Moot's own words: what `moot config import` prints."""

from typing import Any

import yaml

from core.config.entries import FileEntry
from core.config.parse import Checked

_HEAD = "# Configuration of Moot: docs/configuration.md says what each setting does.\n"
#: Kept when they are read, for those who bring them; a fresh file has no use for them.
_IGNORED = {"judge": {"id", "role", "enabled"}}


def as_yaml(checked: Checked) -> str:
    """The file's own settings as YAML under Moot's names; defaults are not written out."""
    entry = FileEntry.model_validate(checked.values)
    kept: dict[str, Any] = entry.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for section, keys in _IGNORED.items():
        if section in kept:
            kept[section] = {key: kept[section][key] for key in kept[section] if key not in keys}
    full = {name: kept[name] for name in FileEntry.model_fields if kept.get(name)}
    for table in ("limits", "prices"):
        full = {**full, **({table: _numbers(full[table])} if table in full else {})}
    return _HEAD + yaml.safe_dump(full, sort_keys=False, allow_unicode=True, width=100)


def _numbers(value: Any) -> Any:
    """Money as numbers: JSON mode writes decimals as text."""
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, str):
        return value
    number = float(value)
    return int(number) if number.is_integer() else number
