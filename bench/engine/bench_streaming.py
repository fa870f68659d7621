#!/usr/bin/env python3
"""Weights that are not in memory: eight documents in hand, every layer read from disk once per pass.

The program without memory runs in a cgroup whose limit is half of the checkpoint (or what it needs beside
weights, if that is more), where the system lets us make one; elsewhere the checkpoint is dropped from the page cache before each of its passes."""
import os
import pathlib
import statistics

import contest
import measure
import models
from measure import BUILD, QUICK, run, spread, table

SHAPE = models.LARGE.cut(2 if QUICK else 8)
DOCUMENTS, TOKENS = 8, 512
TURNS = 3
TARGET = 70
LEAST = 768 << 20  # bytes: hidden states, a layer as float32, a chunk's results, moments
CONTROLS = {"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}


def limited_group(limit):
    """The folder of a cgroup (version 1 or 2) that may hold `limit` bytes; None: it cannot be made."""
    for root, control in CONTROLS.items():
        group = pathlib.Path(root, "qkscope-bench")
        try:
            group.mkdir(exist_ok=True)
            (group / control).write_text(str(limit))
            return group
        except OSError:
            continue
    return None


def drop(path):
    """Out of the page cache, so that the pass finds nothing in memory."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def limits(path):
    lines = run(BUILD / "bench" / "bench_limits", contest.THREADS, path).output.splitlines()
    return {line.split("\t")[0]: [float(rate) for rate in line.split("\t")[1:]] for line in lines}


def row(dtype, disk):
    path = models.made(SHAPE, dtype) / "model.safetensors"
    size = path.stat().st_size
    limit = max(size // 2, LEAST)
    group = limited_group(limit)
    rich = contest.qkscope(SHAPE, dtype, TOKENS, DOCUMENTS)
    drop(path)  # what is in memory already would be nobody's charge
    poor = contest.qkscope(SHAPE, dtype, TOKENS, DOCUMENTS, group=group)
    rich.turn(count=False)
    for turn in range(TURNS):
        measure.say(f"{dtype} {turn + 1}/{TURNS}")
        rich.turn()
        drop(path)
        poor.turn()
    peak = poor.peak()
    rich.close()
    poor.close()
    if group:
        group.rmdir()
    return [dtype, f"{size / 2**20:.0f}", f"{limit / 2**20:.0f}" if group else "none", f"{peak:.0f}",
            spread(rich.walls), spread(poor.walls),
            f"**{100 * statistics.median(rich.walls) / statistics.median(poor.walls):.0f}%**",
            f"{size / 1e9 / statistics.median(disk):.1f}"]


def main():
    stamp = measure.Stamp()
    run("cmake", "--build", BUILD, "--target", "benches")
    found = limits(models.made(SHAPE, "float32") / "model.safetensors")
    rows = [row(dtype, found["disk"]) for dtype in ("float32", "bfloat16")]
    print("## Engine: weights that do not fit\n")
    print(f"{SHAPE.name}'s shape, {SHAPE.layers} layers, {DOCUMENTS} documents of {TOKENS} tokens in "
          "hand, two programs taking turns: one has all memory, the other runs in a cgroup with the "
          "limit in the table (none: no cgroup could be made here), page cache included. Before each of "
          "its passes the checkpoint is dropped from the page cache. Peak is its largest resident size, "
          "mapped weights included.\n")
    print(table(["weights", "checkpoint, MB", "limit, MB", "peak, MB", "in memory, s", "limited, s",
                 "speed kept", "reading alone, s"], rows))
    print(f"\nTarget: at least {TARGET}% of the speed. The machine: disk {spread(found['disk'])} GB/s "
          f"past the page cache, memory {spread(found['memory'], 1)} GB/s (triad), sgemm "
          f"{spread(found['sgemm'], 0)} GFLOP/s.\n")
    print(stamp)


if __name__ == "__main__":
    main()
