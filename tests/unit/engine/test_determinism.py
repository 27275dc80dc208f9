"""One scenario and one seed give the same bytes, whatever the process."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "simulations" / "samples"
PROGRAM = """
import hashlib, sys
from simulations.engine.simulation import Simulation
from simulations.engine.trace_format import encode
from simulations.pipelines.prepare import scenario_of_text
scenario, _document = scenario_of_text(open(sys.argv[1], "rb").read())
digest = hashlib.sha256()
Simulation(scenario, int(sys.argv[2]), lambda records: [digest.update(encode(r)) for r in records]).run()
print(digest.hexdigest())
"""
DICE = """
apiVersion: schedscope/v1alpha1
kind: Scenario
metadata: {name: dice}
spec:
  duration: 20s
  costs: {preset: production}
  faults: [{match: create pods/binding, code: 500, probability: 0.3}]
  generate:
  - {count: 5, namePrefix: node-, object: {apiVersion: v1, kind: Node, metadata: {labels: {zone: a}}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}}}
  - {count: 40, namePrefix: pod-, object: {apiVersion: v1, kind: Pod, metadata: {namespace: default, labels: {app: a}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 300m}}}]}}}
"""  # noqa: E501  # one object a line


def trace_digest(scenario: Path, seed: int, hash_seed: str) -> str:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(scenario), str(seed)], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def dice(tmp_path):
    """A scenario in which chance decides a lot."""
    path = tmp_path / "dice.yaml"
    path.write_text(DICE)
    return path


@pytest.mark.parametrize("name", ["busy-shop", "race-higher-takes"])
def test_a_sample_gives_the_same_bytes_under_every_hash_seed(name):
    path = SAMPLES / f"{name}.yaml"
    assert len({trace_digest(path, 7, hash_seed) for hash_seed in ("0", "1", "4242")}) == 1


def test_chance_is_the_seeds_and_nobody_elses(dice):
    digests = {trace_digest(dice, 1, hash_seed) for hash_seed in ("0", "1", "4242")}
    assert len(digests) == 1
    assert trace_digest(dice, 2, "0") not in digests
    assert digests != {hashlib.sha256(b"").hexdigest()}
