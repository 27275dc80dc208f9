"""Reading YAML and JSON: what comes out, where it was written, and what is refused."""

import json
import os
import time

import pytest

from simulations.engine.documents import Limits, join_path, load_documents, load_paths, split_path
from simulations.engine.kernel.errors import ScenarioErrors


def values(content, file="f.yaml", limits=None):
    return [document.value for document in load_documents(content, file, limits)]


def refused(content, file="f.yaml", limits=None):
    with pytest.raises(ScenarioErrors) as caught:
        load_documents(content, file, limits)
    return caught.value.errors


POD_YAML = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-1
    labels: {app.kubernetes.io/name: web, tier: front}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-2}
  spec:
    containers:
    - name: main
      image: a
    - name: side
      resources:
        requests:
          cpu: 100m
"""


def as_json(text):
    [whole] = load_documents(text, split_lists=False)
    return json.dumps(whole.value, indent=2)


class TestWhatIsRead:
    def test_yaml_and_json_of_the_same_list_give_equal_objects(self):
        assert values(POD_YAML) == values(as_json(POD_YAML))
        assert [value["metadata"]["name"] for value in values(POD_YAML)] == ["web-1", "web-2"]

    @pytest.mark.parametrize(
        "content",
        [
            "kind: A\n---\nkind: B\n",
            '{"kind":"A"}\n{"kind":"B"}',
            '{"kind":"A"}\n---\n{"kind":"B"}',
            "---\n---\nkind: A\n--- {kind: B}",
        ],
        ids=["YAML documents", "JSON values one after the other", "JSON values between dashes", "empty documents left out"],
    )
    def test_several_documents_are_all_read(self, content):
        assert values(content) == [{"kind": "A"}, {"kind": "B"}]

    def test_items_of_a_typed_list_get_the_kind_that_they_leave_out(self):
        text = '{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}'
        assert values(text) == [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]

    def test_a_list_within_a_list_is_taken_apart_too(self):
        text = '{"kind": "List", "items": [{"kind": "List", "items": [{"kind": "Pod"}]}, {"kind": "Node"}]}'
        assert [value["kind"] for value in values(text)] == ["Pod", "Node"]

    def test_an_empty_list_has_no_documents(self):
        assert values("kind: List\nitems: []\n") == []
        assert values('{"kind": "List", "items": null}') == []

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("yes", True),
            ("off", False),
            ('"no"', "no"),
            ("~", None),
            ("", None),
            ("010", 8),
            ("0x1F", 31),
            ("-5", -5),
            ("+3", 3),
            ("1_000", 1000),
            ("1e3", 1000.0),
            (".5", 0.5),
            ("1e400", "1e400"),
            ("2026-01-01", "2026-01-01"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("1:30", "1:30"),
            ("16Gi", "16Gi"),
            ("12345678901234567890123", 12345678901234567890123),
            ("9" * 5000, "9" * 5000),
            ("!!str 12", "12"),
            ("!!int 12", 12),
            ("<b>bold</b>", "<b>bold</b>"),
        ],
    )  # fmt: skip
    def test_scalars_mean_what_they_mean_to_kubectl(self, written, value):
        [document] = values(f"a: {written}")
        assert document["a"] == value
        assert type(document["a"]) is type(value)

    def test_a_json_number_that_no_float_holds_stays_text(self):
        assert values('{"a": 1e400}') == [{"a": "1e400"}]

    def test_keys_are_text_whatever_they_look_like(self):
        assert values("1: a\ntrue: b\non: c") == [{"1": "a", "true": "b", "on": "c"}]

    def test_merge_keys_fill_in_what_is_not_said(self):
        assert values("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3")[0]["more"] == {"x": 1, "y": 3}

    def test_a_byte_order_mark_of_utf8_is_skipped(self):
        assert values(b"\xef\xbb\xbfkind: A") == [{"kind": "A"}]
        assert values(b'\xef\xbb\xbf{"kind": "A"}') == [{"kind": "A"}]

    def test_text_in_flow_style_yaml_is_not_mistaken_for_broken_json(self):
        assert values("{kind: A, items: [x]}") == [{"kind": "A", "items": ["x"]}]


class TestPositions:
    @pytest.mark.parametrize(
        ("index", "path", "line"),
        [
            (0, "", 4),
            (0, "metadata.name", 7),
            (0, "metadata.labels[app.kubernetes.io/name]", 8),
            (1, "", 9),
            (1, "metadata.name", 11),
            (1, "spec.containers[1].resources.requests[cpu]", 19),
            (1, "spec.containers[1].name", 16),
            (1, "spec.containers[7].name", 13),
            (1, "spec.nodeName", 12),
            (1, "nothing.of.this", 9),
        ],
    )
    def test_a_field_has_the_line_of_its_key_or_of_the_deepest_part_that_exists(self, index, path, line):
        assert load_documents(POD_YAML)[index].position(path) == line

    @pytest.mark.parametrize("path", ["", "metadata.name", "spec.containers[1].resources.requests[cpu]", "spec.nothing"])
    def test_json_fields_have_lines_too(self, path):
        text = as_json(POD_YAML)
        document = load_documents(text)[1]
        line = text.splitlines()[document.position(path) - 1].strip()
        wanted = {"": "{", "metadata.name": '"name": "web-2"', "spec.nothing": '"spec": {'}
        assert line == wanted.get(path, '"cpu": "100m"')

    def test_lines_go_on_through_the_documents_of_a_file(self):
        first, second = load_documents("kind: A\n---\n\nkind: B\nmetadata:\n  name: x\n")
        assert (first.line, second.line, second.position("metadata.name")) == (1, 4, 6)

    def test_a_path_survives_splitting_and_joining(self):
        path = "spec.containers[2].resources.requests[nvidia.com/gpu]"
        assert split_path(path) == ("spec", "containers", 2, "resources", "requests", "nvidia.com/gpu")
        assert join_path(split_path(path)) == path

    def test_an_item_knows_its_place_in_the_list(self):
        assert load_documents(POD_YAML)[1].origin == "items[1]"


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("content", "code", "line"),
        [
            ("a: [1, 2\nb: 3\n", "E0104", 2),
            ("a: b: c\n", "E0104", 1),
            ("a: *unknown\n", "E0104", 1),
            ("a:\n\t- b\n", "E0106", 2),
            ("a: 1\nb: 2\na: 3\n", "E0107", 3),
            ("a:\n  &a\n  b: *a\n", "E0109", 3),
            (BOMB, "E0109", 7),
            ("a: !!python/object:os.system x\n", "E0111", 1),
            ("a: !custom x\n", "E0111", 1),
            ("? [1, 2]\n: 3\n", "E0112", 1),
            ("x: 1\n---\n- a\n- b\n", "E0113", 3),
            ("just text", "E0113", 1),
            ("kind: List\nitems:\n- a\n", "E0113", 3),
            ("kind: List\nitems: 3\n", "E0113", 2),
            ("a: b\nc: \x07\n", "E0103", 2),
            (b"a: \xff\n", "E0102", 1),
            ("kind: Pod\n".encode("utf-16"), "E0102", 1),
            (b"PK\x03\x04\x00\x00", "E0103", 1),
            ('{"a": 1,\n "b": }', "E0105", 2),
            ('{"a": 1', "E0105", 1),
            ('{"a": {"b": 1,\n "b": 2}}', "E0107", 2),
            ('{"a":\n NaN}', "E0117", 2),
            ("[1, 2]", "E0113", 1),
            ("a: " + "[" * 3000, "E0108", 1),
            ("a: " + "[" * 200 + "]" * 200, "E0108", 1),
            ('{"a":' * 200 + "1" + "}" * 200, "E0108", 1),
            ("[" * 100_000, "E0108", 1),
        ],
    )  # fmt: skip
    def test_each_mistake_has_its_code_and_line(self, content, code, line):
        file = "f.json" if str(content).startswith("{") else "f.yaml"
        error = refused(content, file)[0]
        assert (error.code, error.line, error.file) == (code, line, file)

    def test_all_repeated_keys_are_told_with_their_fields(self):
        errors = refused("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n")
        assert [(error.path, error.line) for error in errors] == [("b.c", 4), ("a", 5)]

    def test_an_alias_bomb_is_refused_before_it_costs_anything(self):
        started = time.perf_counter()
        refused(BOMB)
        assert time.perf_counter() - started < 1

    def test_a_file_over_the_limit_is_refused_and_the_limit_is_named(self):
        [error] = refused("a: 1\n" * 10, limits=Limits(file_bytes=20))
        assert error.code == "E0101"
        assert "the limit is 0.0 MB" in error.message

    @pytest.mark.parametrize("content", ["a: [1, 2, 3, 4]", '{"a": [1, 2, 3, 4]}'], ids=["YAML", "JSON"])
    def test_more_values_than_the_limit_are_refused(self, content):
        assert refused(content, limits=Limits(values=4))[0].code == "E0110"


class TestFilesAndFolders:
    def test_a_folder_gives_its_files_in_the_order_of_their_names(self, tmp_path):
        (tmp_path / "sub").mkdir()
        (tmp_path / ".hidden").mkdir()
        for name, kind in (("b.yaml", "B"), ("a.json", "A"), ("sub/c.yml", "C"), (".hidden/d.yaml", "D"), ("x.txt", "X")):
            (tmp_path / name).write_text(json.dumps({"kind": kind}))
        assert [document.value["kind"] for document in load_paths([tmp_path])] == ["A", "B", "C"]

    def test_errors_of_all_files_come_together(self, tmp_path):
        (tmp_path / "a.yaml").write_text("a: [")
        (tmp_path / "b.yaml").write_text("a: 1\na: 2\n")
        with pytest.raises(ScenarioErrors) as caught:
            load_paths([tmp_path])
        assert [(error.code, os.path.basename(error.file)) for error in caught.value.errors] == [
            ("E0104", "a.yaml"),
            ("E0107", "b.yaml"),
        ]

    @pytest.mark.parametrize(
        ("make", "code"),
        [
            (lambda path: path / "missing.yaml", "E0115"),
            (lambda path: (path / "empty").mkdir() or path / "empty", "E0116"),
            (lambda path: os.mkfifo(path / "fifo.yaml") or path / "fifo.yaml", "E0115"),
        ],
        ids=["a missing file", "a folder with nothing to read", "a pipe"],
    )
    def test_what_cannot_be_read_is_named(self, tmp_path, make, code):
        with pytest.raises(ScenarioErrors) as caught:
            load_paths([make(tmp_path)])
        assert caught.value.errors[0].code == code

    def test_all_files_together_have_a_limit_too(self, tmp_path):
        for name in "abc":
            (tmp_path / f"{name}.yaml").write_text("kind: A\n")
        with pytest.raises(ScenarioErrors) as caught:
            load_paths([tmp_path], Limits(total_bytes=20))
        assert caught.value.errors[0].code == "E0101"


def test_ten_megabytes_of_json_take_seconds_at_most():
    item = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"containers": [{"n": 1}] * 10},
    }
    text = json.dumps({"kind": "List", "items": [item] * 30_000})
    started = time.perf_counter()
    documents = load_documents(text)
    assert documents[29_999].position("spec.containers[3].n") == 1
    assert time.perf_counter() - started < 10
    assert len(documents) == 30_000
