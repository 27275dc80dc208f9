"""`manage.py bench NAME`: how fast the engine decides, its trace included."""

import resource
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from simulations.analysis.loop import LoopFold, LoopTime
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.scheduler.attempt_data import EXPLANATIONS, USUAL
from simulations.management.output import CodedCommand, read_file, wrong
from simulations.pipelines.bench import EXECUTORS, PREEMPTING, Sizes, bench_document, measure, with_executor
from simulations.pipelines.openb import MODES, OpenbTrace, bundled_trace, openb_document, trace_of

NOT_YET = ("watch",)


class Command(CodedCommand):
    """Runs one benchmark shape in this process."""

    help = "Runs a benchmark; the last line is JSON"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The shape and its sizes."""
        parser.add_argument("name")
        for size, default in (("nodes", 1000), ("pods", 3000), ("low", 0), ("high", 0)):
            parser.add_argument(f"--{size}", type=int, default=default)
        parser.add_argument("--executor", choices=EXECUTORS, default=EXECUTORS[0], help="who deletes the victims of preemptions")
        parser.add_argument("--explanations", choices=EXPLANATIONS, default=USUAL, help="how much of each decision is recorded")
        parser.add_argument("--mode", default=MODES[0], help=f"of openb: {' or '.join(MODES)}")
        parser.add_argument("--nodes-file", type=Path, help="of openb; by default the list that comes with Schedscope")
        parser.add_argument("--pods-file", type=Path, help="of openb; by default the list that comes with Schedscope")

    def handle(self, *_args: Any, name: str, **options: Any) -> None:
        """Measure and print.

        Raises:
            CommandError: exit code 2, no such shape, or files that cannot be read.
        """
        if name in NOT_YET:
            raise wrong(f"E0630: the benchmark {name} is not modelled yet")
        sizes = Sizes(
            options["nodes"], options["pods"], options["low"] or 4 * options["nodes"], options["high"] or options["nodes"]
        )
        run_with: dict[str, Any] = {"nodes": sizes.nodes, "low": sizes.low, "high": sizes.high}
        try:
            if name == "openb":
                trace = _openb(options["nodes_file"], options["pods_file"])
                run_with = {"mode": options["mode"], "nodes": len(trace.nodes), "pods_read": len(trace.pods), **_sums(trace)}
                document = openb_document(trace, options["mode"])
            else:
                document = with_executor(bench_document(name, sizes), options["executor"])
        except (ScenarioError, ScenarioErrors) as error:
            raise wrong(error) from None
        document["spec"]["explanations"] = run_with["explanations"] = options["explanations"]
        self._measure(name, document, run_with)

    def _measure(self, name: str, document: dict[str, Any], run_with: dict[str, Any]) -> None:
        started = time.perf_counter()
        loop = LoopFold() if name in PREEMPTING else None
        measured = measure(document, time.perf_counter, loop)
        whole = time.perf_counter() - started
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024)
        rate = measured.bound / measured.seconds if measured.seconds else 0.0
        self.print_json(
            {
                "name": name, "pods": measured.bound, "seconds": round(measured.seconds, 3), "pods_per_s": round(rate, 1),
                "peak_rss_mb": round(rss, 1), "records": measured.records, "trace_mb": round(measured.trace_bytes / 1e6, 1),
                "run_seconds": round(whole, 3), **run_with, "placed": measured.bound,
                "pending": measured.counts.get("pending", 0), "counts": measured.counts,
                **(_loop_times(document, loop.loop_time()) if loop is not None else {}),
            }
        )  # fmt: skip


def _loop_times(document: dict[str, Any], loop: LoopTime) -> dict[str, Any]:
    """Simulated times of the scheduling loop, PostFilter in ms."""
    return {
        "executor": "async" if document["spec"]["featureGates"]["SchedulerAsyncPreemption"] else "sync",
        "post_filter_ms": {"count": loop.post_filters, "mean": loop.post_filter_mean_ms, "max": loop.post_filter_max_ms},
        "loop_busy_seconds": loop.busy_seconds, "loop_waited_seconds": loop.waited_seconds,
        "wait_p95_seconds": loop.waits.p95_seconds, "wait_p95_seconds_of_others": loop.waits_of_others.p95_seconds,
    }  # fmt: skip


def _openb(nodes: Path | None, pods: Path | None) -> OpenbTrace:
    if nodes is None and pods is None:
        return bundled_trace()
    if nodes is None or pods is None:
        raise wrong("E0640: give both --nodes-file and --pods-file, or neither")
    return trace_of(read_file(nodes), read_file(pods), (str(nodes), str(pods)))


def _sums(trace: OpenbTrace) -> dict[str, int]:
    return {"cores": sum(node.cpu_milli for node in trace.nodes) // 1000, "gpus": sum(node.cards for node in trace.nodes)}
