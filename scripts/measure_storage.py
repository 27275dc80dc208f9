"""Stores a long run in a real PostgreSQL and says how long its pages take and how large the database is.

Usage: python scripts/measure_storage.py [--pods 130000] [--nodes 5000]
"""

import argparse
import json
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from simulations.pipelines.bench import Sizes, bench_document
from tests.services import wait_until
from tests.topology import Topology, production

CREATE = """
import json, sys
from simulations import services
base = services.base_of_text(sys.stdin.buffer.read(), "long.json")
print(services.create_run(base, services.RunRequest()).pk)
"""


def timed(topology: Topology, path: str) -> tuple[float, int]:
    """Seconds until a page is read to its end, and its bytes."""
    begun = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{topology.ports[0]}{path}", timeout=600) as answer:
        size = len(answer.read())
    return round(time.monotonic() - begun, 3), size


def measure(nodes: int, pods: int) -> dict[str, object]:
    """Run it, and look."""
    with production(SCHEDSCOPE_MODE="embedded") as topology:
        scenario = json.dumps(bench_document("basic", Sizes(nodes=nodes, pods=pods)))
        begun = time.monotonic()
        run = int(topology.manage("shell", "-v", "0", "-c", CREATE, given=scenario).stdout.split()[-1])
        wait_until(lambda: topology.state(run) not in ("queued", "running"), 1800, every=0.5)
        seconds = time.monotonic() - begun
        state, records = topology.ask("SELECT state, seq FROM simulations_run WHERE id = %s", run)[0]
        spans = topology.ask("SELECT count(*) FROM simulations_span WHERE run_id = %s", run)[0][0]
        size = topology.ask("SELECT pg_database_size(current_database())")[0][0]
        pod = topology.ask("SELECT subject FROM simulations_tracerecord WHERE run_id = %s AND subject LIKE 'pods/%%' LIMIT 1", run)[
            0
        ][0]
        pages = ["/runs/", f"/runs/{run}/", f"/runs/{run}/spans.json?after=0", f"/runs/{run}/why/?pod={pod.removeprefix('pods/')}"]
        return {
            "state": state, "records": records, "spans": spans, "seconds": round(seconds, 1), "database_mb": round(size / 1e6),
            "pages": {path: timed(topology, path) for path in pages},
        }  # fmt: skip


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=130_000)
    words = parser.parse_args()
    sys.stdout.write(json.dumps(measure(words.nodes, words.pods), indent=1) + "\n")


if __name__ == "__main__":
    main()
