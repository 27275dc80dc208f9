"""Values of plain YAML scalars, as kubectl reads them.

Like the YAML library under kubectl: YAML 1.1 booleans, octal and hexadecimal integers, no sexagesimals, and times stay
text. A lone `y` or `n` is text, as most programs that write YAML mean it. Numbers that no finite float holds stay text
too, so that a quantity such as `1e400` is refused where it is used.
"""

import math
import re
from typing import Any

_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
for _word in ("yes", "true", "on"):
    _WORDS.update(dict.fromkeys((_word, _word.capitalize(), _word.upper()), True))
for _word in ("no", "false", "off"):
    _WORDS.update(dict.fromkeys((_word, _word.capitalize(), _word.upper()), False))

_NUMBER_STARTS = frozenset("0123456789+-.")
_INTEGER = re.compile(r"[-+]?(0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|[1-9][0-9_]*|0)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_MAX_DIGITS = 40

SCALAR_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp"))
_STRING_TAGS = frozenset({"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"})


def plain(text: str) -> Any:
    """The value of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_STARTS:
        return number(text)
    return text


def tagged(text: str, tag: str) -> Any:
    """The value of a scalar that carries one of `SCALAR_TAGS` or `!`."""
    return text if tag in _STRING_TAGS else plain(text)


def number(text: str) -> Any:
    """An int, a finite float, or the text itself."""
    if len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.match(text):
        return _integer(text.replace("_", ""))
    if _FLOAT.match(text):
        value = float(text)
        return value if math.isfinite(value) else text
    return text


def _integer(text: str) -> int | str:
    digits = text.lstrip("+-")
    if digits.startswith("0") and digits.isdecimal() and digits != "0":
        text = text.replace("0", "0o", 1)
    try:
        return int(text, 0)
    except ValueError:
        return text
