"""How a record is written: one JSON object on one line, keys in a fixed order, defaults left out.

The bytes of a trace are part of the promise "one scenario and seed, one trace"; ``docs/trace-format.md`` describes them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record

FORMAT_VERSION: Final = 1
"""Version of the format; the first record of a trace carries it in ``data.format``."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)


def encode(record: Record) -> bytes:
    """Return the record as one line, its line feed included."""
    return _encoder.encode(record) + b"\n"


def decode(line: bytes) -> Record:
    """Return the record that the line holds.

    Raises:
        ScenarioError: the line is not a record.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ScenarioError("E0501", f"not a record of a trace: {error}") from error


def read(lines: Iterable[bytes], file: str = "") -> Iterator[Record]:
    """Yield the records of a stored trace, having checked its version first.

    Raises:
        ScenarioError: a line is not a record, the trace has no ``begin`` record, or its format is one that we do not know.
    """
    for number, line in enumerate(lines, start=1):
        try:
            record = decode(line)
        except ScenarioError as error:
            raise error.located(line=number, file=file) from error
        if number == 1:
            _check_version(record, file)
        yield record


def _check_version(first: Record, file: str) -> None:
    if first.verb != "begin":
        raise ScenarioError("E0502", "a trace starts with its begin record; this one does not", "verb", 1, file)
    version = (first.data or {}).get("format")
    if version != FORMAT_VERSION:
        raise ScenarioError("E0503", f"trace format {version!r} is not known; known: {FORMAT_VERSION}", "data.format", 1, file)
