"""`manage.py bench openb`: the last line says what was run and what became of it; a wrong call ends with code 2."""

import json

import pytest
from django.core.management import CommandError, call_command

NODES = "sn,cpu_milli,memory_mib,gpu,model\nn-1,4000,8192,2,T4\n"
HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
PODS = HEAD + "p-1,1000,1024,1,500,,LS,Running,0,10,1\np-2,9000,1024,0,0,,BE,Pending,1,10,\n"


@pytest.fixture
def files(tmp_path):
    """The two options with their files."""
    (tmp_path / "n.csv").write_text(NODES, encoding="utf-8")
    (tmp_path / "p.csv").write_text(PODS, encoding="utf-8")
    return ["--nodes-file", str(tmp_path / "n.csv"), "--pods-file", str(tmp_path / "p.csv")]


@pytest.mark.parametrize("mode, placed, pending", [("fill", 1, 1), ("recorded", 1, 0)])
def test_the_last_line_says_what_was_placed(files, capsys, mode, placed, pending):
    call_command("bench", "openb", "--mode", mode, *files)
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"name", "pods", "seconds", "pods_per_s", "peak_rss_mb"} <= set(line)
    assert (line["mode"], line["nodes"], line["gpus"], line["pods_read"]) == (mode, 1, 2, 2)
    assert (line["placed"], line["pending"]) == (placed, pending)


@pytest.mark.parametrize(
    "words, said",
    [(["--mode", "sideways"], "E0643"), (["--nodes-file", "/nowhere.csv", "--pods-file", "/nowhere.csv"], "E0115")],
    ids=["mode", "file"],
)
def test_a_wrong_call_ends_with_code_2(words, said):
    with pytest.raises(CommandError, match=said) as caught:
        call_command("bench", "openb", *words)
    assert caught.value.returncode == 2


def test_one_file_of_two_is_not_enough(files):
    with pytest.raises(CommandError, match="E0640"):
        call_command("bench", "openb", *files[:2])


def test_a_wrong_row_is_named_by_file_and_line(files, tmp_path):
    (tmp_path / "p.csv").write_text(PODS.replace("9000", "-1"), encoding="utf-8")
    with pytest.raises(CommandError, match=r"p\.csv:3.*E0641|E0641.*p\.csv:3"):
        call_command("bench", "openb", *files)


def test_everything_can_be_recorded_of_each_decision_or_nothing(capsys):
    sizes = {}
    for explanations in ("none", "usual", "all"):
        call_command("bench", "basic", "--nodes", "450", "--pods", "300", "--explanations", explanations)
        line = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert line["explanations"] == explanations
        sizes[explanations] = line["trace_mb"]
    assert sizes["none"] < sizes["usual"] < sizes["all"]
