#!/usr/bin/env python3
"""How long `qkscope version` takes, and that it starts no backend."""
import shutil

import measure
from measure import QKSCOPE, QUICK, SCRATCH, run, spread, table

TARGET = 30  # ms
TURNS = 5 if QUICK else 40


def main():
    stamp = measure.Stamp()
    run(QKSCOPE, "version")
    times = [1000 * run(QKSCOPE, "version").wall for _ in range(TURNS)]
    threads = "not looked (no strace)"
    if shutil.which("strace"):
        trace = SCRATCH / "start.trace"
        run("strace", "-f", "-o", trace, "-e", "trace=clone,clone3", QKSCOPE, "version")
        threads = str(trace.read_text().count("clone"))
    print("## Start\n")
    print(table(["program", "wall, ms", "target, ms", "threads started"],
                [["`qkscope version`", spread(times, 1), TARGET, threads]]))
    print(f"\nMedian and range of {TURNS} starts, program and libraries in the page cache. A ggml "
          "backend, OpenBLAS or DuckDB at work would start threads.\n")
    print(stamp)


if __name__ == "__main__":
    main()
