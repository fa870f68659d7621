#!/usr/bin/env python3
"""The demo's capture by one rank and by two, one thread each, under mpirun. The clock starts at the
plan and stops at the last unit, as the run's own events tell.

What the machine itself gives to two programs at once is measured too: two runs of one rank each, that
know nothing of each other."""
import concurrent.futures
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import measure
from measure import BENCH, QKSCOPE, SCRATCH, table

STUDY = BENCH.parent / "demo" / "training.yaml"
RANKS = [1, 2]
TARGET = 1.8
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]


@contextlib.contextmanager
def bare_study():
    """The demo without figures, beside it for as long as it is needed."""
    lines = ["figures: none" if line.startswith("figures:") else line
             for line in STUDY.read_text().splitlines()]
    path = STUDY.with_name(".bench-ranks.yaml")
    path.write_text("\n".join(lines) + "\n")
    try:
        yield path
    finally:
        path.unlink()


def capture(study, ranks, name="ranks"):
    """Seconds of the capture, and the tables' bytes."""
    out = SCRATCH / "out" / f"{name}-{ranks}"
    shutil.rmtree(out, ignore_errors=True)
    command = [*MPIRUN, "-n", ranks, QKSCOPE, "run", study, "--out", out, "--threads", 1, "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.PIPE, env=environment)
    start = end = 0.0
    units = 0
    for line in child.stdout:
        event = json.loads(line)["event"]
        if event == "plan":
            start = time.perf_counter()
        elif event == "unit":
            end, units = time.perf_counter(), units + 1
    if child.wait() != 0:
        sys.exit(f"{command} failed:\n{child.stderr.read()[-2000:]}")
    tables = {path.name: path.read_bytes() for path in sorted((out / "tables").glob("*.csv"))}
    return end - start, units, tables


def side_by_side(study):
    """The same of two runs at once: seconds of the slower."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return max(pool.map(lambda name: capture(study, 1, name)[0], ("left", "right")))


def main():
    stamp = measure.Stamp()
    with bare_study() as study:
        runs = measure.interleaved({n: (lambda n=n: capture(study, n)) for n in RANKS} |
                                   {"two runs at once": lambda: side_by_side(study)})
    seconds = {n: [run[0] for run in runs[n]] for n in RANKS}
    ratios = [one / two for one, two in zip(seconds[1], seconds[2])]
    limit = statistics.median(2 * one / both
                              for one, both in zip(seconds[1], runs["two runs at once"]))
    same = all(run[2] == runs[1][0][2] for n in RANKS for run in runs[n])
    print("## Study: two ranks\n")
    print(f"Capture of the demo's training study ({runs[1][0][1]} units, from plan to last unit), "
          f"one thread a rank, {measure.REPEATS} interleaved runs.\n")
    print(table(["ranks", "seconds"], [[n, measure.spread(s, 1)] for n, s in seconds.items()]))
    print(f"\nTwo ranks: **{statistics.median(ratios):.2f}x** "
          f"({min(ratios):.2f} to {max(ratios):.2f}) as fast, target {TARGET}x; two runs that know "
          f"nothing of each other do {limit:.2f}x the work of one. "
          f"Tables: {'the same bytes' if same else '**they differ**'}.\n")
    print(stamp)


if __name__ == "__main__":
    main()
