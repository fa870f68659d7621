#!/usr/bin/env python3
"""How qkscope's analysis grows: with rows per head, and with heads."""
import math
import statistics

import datasets
import measure
from measure import QKSCOPE, SCRATCH, run, table

ROWS = [1024, 2048, 4096, 8192, 16384]
HEADS = [12, 24, 48, 96]
HEADS_FOR_ROWS = 24
MODES = {"10 PCs, r_q, r_k": ["--groups", "1", "--plasticity", "none"], "default": []}
REPEATS = 5


def times(folders):
    """(mode, size) -> median wall seconds; all sizes and modes take turns."""
    def job(folder, options):
        return lambda: run(QKSCOPE, "analyze", folder, "--shape", datasets.SHAPE,
                           "--out", SCRATCH / "out" / "growth", *options)
    jobs = {(mode, size): job(folder, options) for size, folder in folders.items()
            for mode, options in MODES.items()}
    for one in jobs.values():
        one()  # fills the page cache
    runs = measure.interleaved(jobs, REPEATS)
    return {name: statistics.median(one.wall for one in some) for name, some in runs.items()}


def line(sizes, seconds):
    """Least squares: seconds = start + each * size."""
    x, y = statistics.fmean(sizes), statistics.fmean(seconds)
    each = (sum((a - x) * (b - y) for a, b in zip(sizes, seconds)) /
            sum((a - x) ** 2 for a in sizes))
    return y - each * x, each


def exponent(sizes, seconds):
    return line([math.log(n) for n in sizes], [math.log(s) for s in seconds])[1]


def report(what, unit, sizes, seconds):
    header = [what, *(f"{n}" for n in sizes), "start, s", f"ms per {unit}", "exponent",
              "exponent less start"]
    rows = []
    for mode in MODES:
        y = [seconds[mode, n] for n in sizes]
        start, each = line(sizes, y)
        rest = [max(s - max(start, 0), 1e-6) for s in y]
        rows.append([mode, *(f"{s:.2f} s" for s in y), f"{start:.2f}", f"{1000 * each:.3f}",
                     f"{exponent(sizes, y):.2f}", f"{exponent(sizes, rest):.2f}"])
    print(table(header, rows) + "\n")


def main():
    stamp = measure.Stamp()
    whole = datasets.made()
    by_rows = times({n: datasets.made(HEADS_FOR_ROWS, n) for n in ROWS})
    by_heads = times({n: datasets.first_heads(whole, n) for n in HEADS})
    print("## Analysis: growth\n")
    print(f"Wall seconds, median of {REPEATS} interleaved runs; the line start + n x each through "
          "them; the exponent of n in them, as they are and without the line's start. Linear is "
          f"1.\n\nRows per head, {HEADS_FOR_ROWS} query heads:\n")
    report("rows", "row", ROWS, by_rows)
    print(f"Query heads, {datasets.ROWS} rows each:\n")
    report("heads", "head", HEADS, by_heads)
    print(stamp)


if __name__ == "__main__":
    main()
