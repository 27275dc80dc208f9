"""Records: numbering, batches, and their bytes."""

import pytest

from simulations.engine import trace_format
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record, Trace


def test_records_are_numbered_from_one_and_handed_on_in_batches() -> None:
    batches: list[list[Record]] = []
    trace = Trace(batches.append, batch=2)
    assert [trace.add(t, "user", "create", name=f"p-{t}") for t in range(5)] == [1, 2, 3, 4, 5]
    assert [[r.seq for r in batch] for batch in batches] == [[1, 2], [3, 4]]
    trace.flush()
    trace.flush()
    assert [[r.seq for r in batch] for batch in batches] == [[1, 2], [3, 4], [5]]
    assert (len(trace), trace.records) == (5, [])


def test_a_trace_keeps_records_when_told() -> None:
    trace = Trace(keep=True)
    trace.add(1, "user", "create")
    trace.flush()
    assert [record.verb for record in trace.records] == ["create"]


def test_a_record_is_one_line_with_a_fixed_order_of_keys_and_no_defaults() -> None:
    record = Record(3, -5, "user", "create", resource="pods", name="<b>\u00e9\n", code=201, data={"z": 1, "a": [None, True]})
    line = trace_format.encode(record)
    assert (
        line
        == (
            '{"seq":3,"t":-5,"actor":"user","verb":"create","resource":"pods","name":"<b>\u00e9\\n","code":201,'
            '"data":{"z":1,"a":[null,true]}}\n'
        ).encode()
    )
    assert trace_format.decode(line) == record


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ([b"nonsense"], "E0501", 1),
        ([b'{"seq":"1"}'], "E0501", 1),
        ([b"\xff\xfe"], "E0501", 1),
        ([b'{"seq":1,"t":0,"actor":"user","verb":"create"}'], "E0502", 1),
        ([b'{"seq":1,"t":0,"actor":"schedscope","verb":"begin","data":{"format":99}}'], "E0503", 1),
        ([b'{"seq":1,"t":0,"actor":"schedscope","verb":"begin","data":{"format":1}}', b"{"], "E0501", 2),
    ],
)
def test_a_stored_trace_that_cannot_be_read_is_refused_with_its_line(lines: list[bytes], code: str, line: int) -> None:
    with pytest.raises(ScenarioError) as found:
        list(trace_format.read(lines, "trace.jsonl"))
    assert (found.value.code, found.value.line, found.value.file) == (code, line, "trace.jsonl")


def test_an_error_names_its_place() -> None:
    error = ScenarioError("E0301", "wrong").located(line=4, file="a.yaml", prefix="spec")
    assert str(error) == "a.yaml:4: E0301: spec: wrong"
    assert str(ScenarioError("E1", "wrong", "cpu").located(prefix="spec.x[0]")) == "E1: spec.x[0].cpu: wrong"
