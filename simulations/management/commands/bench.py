"""`manage.py bench NAME`: how fast the engine decides, its trace included."""

import resource
import sys
import time
from argparse import ArgumentParser
from typing import Any

from simulations.engine.kernel.errors import ScenarioError
from simulations.management.output import CodedCommand, wrong
from simulations.pipelines.bench import Sizes, bench_document, measure

NOT_YET = ("openb", "watch")


class Command(CodedCommand):
    """Runs one benchmark shape in this process."""

    help = "Runs a benchmark; the last line is JSON"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The shape and its sizes."""
        parser.add_argument("name")
        for size, default in (("nodes", 1000), ("pods", 3000), ("low", 0), ("high", 0)):
            parser.add_argument(f"--{size}", type=int, default=default)

    def handle(self, *_args: Any, name: str, nodes: int, pods: int, low: int, high: int, **_options: Any) -> None:
        """Measure and print.

        Raises:
            CommandError: exit code 2, no such shape.
        """
        if name in NOT_YET:
            raise wrong(f"E0630: the benchmark {name} is not modelled yet")
        sizes = Sizes(nodes, pods, low or 4 * nodes, high or nodes)
        try:
            document = bench_document(name, sizes)
        except ScenarioError as error:
            raise wrong(error) from None
        started = time.perf_counter()
        measured = measure(document, time.perf_counter)
        whole = time.perf_counter() - started
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024)
        rate = measured.bound / measured.seconds if measured.seconds else 0.0
        self.print_json(
            {
                "name": name, "pods": measured.bound, "seconds": round(measured.seconds, 3), "pods_per_s": round(rate, 1),
                "peak_rss_mb": round(rss, 1), "records": measured.records, "trace_mb": round(measured.trace_bytes / 1e6, 1),
                "run_seconds": round(whole, 3), "nodes": nodes, "low": sizes.low, "high": sizes.high, "counts": measured.counts,
            }
        )  # fmt: skip
