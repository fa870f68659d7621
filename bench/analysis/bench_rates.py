#!/usr/bin/env python3
"""Shares of the machine's rates: moment updates and eigen-decompositions beside dgemm (rates.c)."""
import statistics

import measure
from measure import BUILD, run, spread, table


def main():
    stamp = measure.Stamp()
    run("cmake", "--build", BUILD, "--target", "benches")
    found = {}
    for line in run(BUILD / "bench" / "bench_rates").output.splitlines():
        name, threads, base, *rates = line.split("\t")
        found[name, int(threads)] = base, [float(rate) for rate in rates]
    rows = []
    for (name, threads), (base, rates) in found.items():
        share = ""
        if base:
            whole = statistics.median(found[base, threads][1])
            share = f"**{100 * statistics.median(rates) / whole:.0f}%** of {base}"
        rows.append([name, threads, spread(rates, 1), share])
    print("## Analysis: shares of the machine's rates\n")
    print("GFLOP/s by useful operations, median and range of interleaved rounds.\n")
    print(table(["work", "threads", "GFLOP/s", "share"], rows) + "\n")
    print("Useful operations: n (d + 1)(d + 2) for the moments of n vectors of dimension d; for the "
          "top k eigenpairs 4/3 d^3 to tridiagonal form and 2 d^2 k back, the rest not counted.\n")
    print(stamp)


if __name__ == "__main__":
    main()
