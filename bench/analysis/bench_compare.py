#!/usr/bin/env python3
"""From captured vectors to numbers per head: qkscope beside pandas + scikit-learn.

Each side reads the same Parquet files on the same cores. The peer works on a sample of heads, spread
over the dataset, and its time is scaled to all (BENCH_FULL: it does all)."""
import csv
import json
import pathlib
import statistics
import sys

import datasets
import measure
from measure import FULL, QKSCOPE, SCRATCH, run, spread, table

GROUPS = 20
SAMPLE, SAMPLE_WITH_ERRORS = 48, 8  # heads that the peer works on
TARGET_TIME, TARGET_MEMORY = 15, 4
AGREE = 1e-4  # scikit-learn keeps float32; in float64 both agree to 1e-13


def peer(dataset, heads, *options):
    script = pathlib.Path(__file__).with_name("peer.py")
    some = [] if FULL else ["--heads", heads]
    return run(sys.executable, script, dataset, "--share", datasets.SHARE, *some, *options)


def qkscope(dataset, out, *options):
    return run(QKSCOPE, "analyze", dataset, "--shape", datasets.SHAPE, "--out", out, *options)


def scaled(one):
    """Wall time of the peer for all heads: its start once, its work as often as there are heads."""
    report = json.loads(one.output)
    work = sum(report["steps"].values())
    return one.wall - work + work * datasets.HEADS / len(report["heads"])


def steps_of(runs):
    reports = [json.loads(one.output) for one in runs]
    names = reports[0]["steps"]
    return {name: statistics.median(1000 * r["steps"][name] / len(r["heads"]) for r in reports)
            for name in names}


def rows_of(out):
    with open(out / "qk.csv", newline="") as file:
        return {(int(r["layer"]), int(r["head"]), int(r["pc"])): r for r in csv.DictReader(file)}


def worst_difference(report, rows):
    """Largest difference of explained variance, r_q, r_k; the peer's signs are arbitrary."""
    worst = 0
    for head in report["heads"]:
        for pc, (ev, r_q, r_k) in enumerate(zip(*head["numbers"])):
            mine = rows[head["layer"], head["head"], pc]
            worst = max(worst, abs(ev - float(mine["explained_variance"])))
            worst = max(worst, min(max(abs(sign * r_q - float(mine["r_q"])),
                                       abs(sign * r_k - float(mine["r_k"]))) for sign in (1, -1)))
    return worst


def worst_error_difference(report, rows):
    """The same for their standard errors, relative."""
    names = ("se_explained_variance", "se_r_q", "se_r_k")
    return max(abs(error / float(rows[head["layer"], head["head"], pc][name]) - 1)
               for head in report["heads"]
               for name, errors in zip(names, head["errors"]) for pc, error in enumerate(errors))


def comparison(what, peers, mine):
    times, own = [scaled(one) for one in peers], [one.wall for one in mine]
    memory, own_memory = max(one.peak for one in peers), max(one.peak for one in mine)
    faster = statistics.median(times) / statistics.median(own)
    return [what, spread(times, 1), spread(own), f"**{faster:.1f}x**", f"{memory:.0f}",
            f"{own_memory:.0f}", f"**{memory / own_memory:.1f}x**"]


def main():
    stamp = measure.Stamp("scikit-learn", "pandas", "pyarrow", "numpy", "scipy")
    dataset = datasets.made()
    out = {name: SCRATCH / "out" / name for name in ("bare", "errors", "default")}
    qkscope(dataset, out["default"])  # fills the page cache
    runs = measure.interleaved({
        "peer": lambda: peer(dataset, SAMPLE),
        "qkscope": lambda: qkscope(dataset, out["bare"], "--groups", 1, "--plasticity", "none"),
        "peer, SVD": lambda: peer(dataset, SAMPLE, "--solver", "full"),
        "qkscope, errors": lambda: qkscope(dataset, out["errors"], "--groups", GROUPS,
                                           "--plasticity", "none"),
        "peer, errors": lambda: peer(dataset, SAMPLE_WITH_ERRORS, "--groups", GROUPS),
        "qkscope, default": lambda: qkscope(dataset, out["default"]),
    })
    first = {name: json.loads(runs[name][0].output) for name in runs if name.startswith("peer")}
    rows = {name: rows_of(folder) for name, folder in out.items()}
    differ = max(worst_difference(report, rows["bare"]) for report in first.values())
    differ_errors = worst_error_difference(first["peer, errors"], rows["errors"])

    print("## Analysis: captured vectors to numbers per head\n")
    print(f"{datasets.HEADS} query heads, 96 key heads, d = 128, {datasets.ROWS} rows each, in "
          f"Parquet (zstd). The peer reads, stacks, fits and correlates head by head with pandas "
          f"and scikit-learn{'' if FULL else f', {SAMPLE} heads spread over the dataset'}"
          f"{'' if FULL else f' ({SAMPLE_WITH_ERRORS} with errors), scaled to all'}. Wall seconds "
          f"for all heads, median and range of {measure.REPEATS} interleaved runs; peak resident MB.\n")
    print(table(
        ["work", "peer, s", "qkscope, s", "ratio", "peer, MB", "qkscope, MB", "ratio"],
        [comparison("10 PCs, r_q, r_k", runs["peer"], runs["qkscope"]),
         comparison("the same, scikit-learn by SVD", runs["peer, SVD"], runs["qkscope"]),
         comparison(f"with jackknife errors, {GROUPS} groups", runs["peer, errors"],
                    runs["qkscope, errors"]),
         comparison("the same, and qkscope also plasticity (its default)", runs["peer, errors"],
                    runs["qkscope, default"])]))
    print(f"\nTargets: at least {TARGET_TIME}x in time, {TARGET_MEMORY}x in memory.\n")
    for name in ("peer", "peer, SVD"):
        parts = ", ".join(f"{step} {ms:.1f}" for step, ms in steps_of(runs[name]).items())
        print(f"- {name}, ms per head: {parts}")
    for name in ("qkscope", "qkscope, errors", "qkscope, default"):
        each = 1000 / datasets.HEADS * statistics.median(one.wall for one in runs[name])
        work = 1000 / datasets.HEADS * statistics.median(one.cpu for one in runs[name])
        print(f"- {name}, ms per head: {each:.1f} (processor time {work:.1f})")
    print(f"- numbers of the sampled heads: they differ by {differ:.1e} at most (explained variance, "
          f"r_q, r_k; {'as they should' if differ < AGREE else f'MORE THAN {AGREE}'}), their "
          f"standard errors by {differ_errors:.1e} of their size\n")
    print(stamp)


if __name__ == "__main__":
    main()
