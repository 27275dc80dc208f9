"""CSV: RFC 4180, safe in spreadsheets, untouched numbers."""

import csv
import io
from datetime import UTC, datetime

import pytest

from simulations.analysis.columns import Calendar, Column, number, seconds
from simulations.exporters.csv import file_name, write_csv

COLUMNS = (Column("name", "text"), number("value", "a number"))


def written(*rows, raw=False):
    return "".join(write_csv(COLUMNS, rows, raw=raw))


def test_lines_end_with_crlf_and_the_header_comes_first():
    assert written(("a", 1), ("b", 2)) == "name,value\r\na,1\r\nb,2\r\n"


@pytest.mark.parametrize("text", ['say "hi"', "a,b", "two\nlines", "two\r\nlines"])
def test_what_needs_quotes_is_read_back_as_it_was(text):
    [_, row] = csv.reader(io.StringIO(written((text, 1)), newline=""))
    assert row == [text, "1"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"])
def test_a_text_cell_that_looks_like_a_formula_gets_an_apostrophe(start):
    [_, row] = csv.reader(io.StringIO(written((f"{start}cmd|'/c calc'!A0", 1)), newline=""))
    assert row[0] == f"'{start}cmd|'/c calc'!A0"


def test_numeric_cells_are_never_touched():
    assert written(("a", -5), ("b", "-0.25")).endswith("a,-5\r\nb,-0.25\r\n")


def test_the_raw_form_leaves_text_alone():
    assert written(("=1", 1), raw=True).endswith("=1,1\r\n")


def test_unset_is_empty_and_zero_is_zero_and_booleans_are_words():
    columns = (*COLUMNS, number("flag", "a boolean"))
    assert "".join(write_csv(columns, [(None, 0, True), ("", None, False)])).endswith("\r\n,0,true\r\n,,false\r\n")


def test_rows_are_written_as_they_come():
    def rows():
        for index in range(1000):
            taken.append(index)
            yield "a", index

    taken = []
    lines = write_csv(COLUMNS, rows())
    next(lines)
    next(lines)
    assert len(taken) < 1000


def test_a_row_of_another_width_is_a_bug_and_is_told():
    with pytest.raises(ValueError, match="zip"):
        list(write_csv(COLUMNS, [("a",)]))


def test_file_names_are_safe_everywhere():
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert file_name("a/b: <c>", "pods", moment) == "a-b-c-pods-20260102T030405Z.csv"
    assert file_name("../..", "pods", moment) == "run-pods-20260102T030405Z.csv"


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "0"), (1_500_000_000, "1.5"), (-250_000_000, "-0.25"), (1, "0.000000001"), (60_000_000_000, "60"), (None, None)],
)
def test_seconds_are_exact_and_short(time, text):
    assert seconds(time) == text


@pytest.mark.parametrize(
    ("start", "time", "text"),
    [
        ("2026-01-01T00:00:00Z", 0, "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00Z", 1_500_000_000, "2026-01-01T00:00:01.5Z"),
        ("2026-01-01T02:00:00+02:00", -1, "2025-12-31T23:59:59.999999999Z"),
        ("2026-01-01T00:00:00.25Z", 1, "2026-01-01T00:00:00.250000001Z"),
    ],
)
def test_utc_has_every_nanosecond(start, time, text):
    assert Calendar(start).utc(time) == text
