"""`manage.py replay`: one JSON line per file on stdout, coded errors and exit code 2 for what cannot be replayed."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases" / "v1.36.2" / "decisions"


def test_decisions_are_printed_one_line_per_file():
    out = io.StringIO()
    files = [CASES / "taints" / "taints-000.json", CASES / "ports" / "ports-001.json"]
    call_command("replay", "decisions", *map(str, files), stdout=out)
    documents = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [d["file"] for d in documents] == ["taints-000", "ports-001"]
    assert all(step["attempts"] for d in documents for step in d["steps"])


def test_a_kind_of_recording_that_there_is_not_is_a_wrong_call():
    with pytest.raises(CommandError, match="invalid choice: 'dreams'"):
        call_command("replay", "dreams", "any.json")


@pytest.mark.parametrize(
    "text, code", [(None, "E0115"), ("{", "E0105"), ("[]", "E0113"), ('{"objects": [{"kind": "Gizmo"}], "steps": []}', "E0201")]
)
def test_a_file_that_cannot_be_replayed_is_refused_with_its_code(tmp_path, text, code):
    path = tmp_path / "case.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CommandError, match=code) as caught:
        call_command("replay", "decisions", str(path))
    assert caught.value.returncode == 2
