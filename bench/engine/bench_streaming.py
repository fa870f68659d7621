#!/usr/bin/env python3
"""Weights that are not in memory: eight documents in hand, every layer read from disk once per pass."""
import os
import statistics

import contest
import measure
import models
from measure import BUILD, QUICK, run, spread, table

SHAPE = models.LARGE.cut(2 if QUICK else 8)
DOCUMENTS, TOKENS = 8, 512
TURNS = 2
TARGET = 70


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
    side = contest.qkscope(SHAPE, dtype, TOKENS, DOCUMENTS)
    warm, cold = [], []
    side.turn(count=False)
    for turn in range(TURNS):
        measure.say(f"{dtype} {turn + 1}/{TURNS}")
        warm.append(side.turn())
        drop(path)
        cold.append(side.turn())
    peak = side.peak()
    side.close()
    size = path.stat().st_size / 2**20
    return [dtype, f"{size:.0f}", f"{peak:.0f}", spread(warm), spread(cold),
            f"**{100 * statistics.median(warm) / statistics.median(cold):.0f}%**",
            f"{size * 2**20 / 1e9 / statistics.median(disk):.1f}"]


def main():
    stamp = measure.Stamp()
    run("cmake", "--build", BUILD, "--target", "benches")
    found = limits(models.made(SHAPE, "float32") / "model.safetensors")
    rows = [row(dtype, found["disk"]) for dtype in ("float32", "bfloat16")]
    print("## Engine: weights that do not fit\n")
    print(f"{SHAPE.name}'s shape, {SHAPE.layers} layers, {DOCUMENTS} documents of {TOKENS} tokens in "
          "hand. Before a `disk` pass the checkpoint is dropped from the page cache, so that every "
          "layer comes from disk once, as it must when memory is smaller than the weights. Peak is the "
          "largest resident size, mapped weights included: more than that is never needed at once.\n")
    print(table(["weights", "checkpoint, MB", "peak, MB", "in memory, s", "from disk, s",
                 "speed kept", "reading alone, s"], rows))
    print(f"\nTarget: at least {TARGET}% of the speed. The machine: disk {spread(found['disk'])} GB/s "
          f"past the page cache, memory {spread(found['memory'], 1)} GB/s (triad), sgemm "
          f"{spread(found['sgemm'], 0)} GFLOP/s.\n")
    print(stamp)


if __name__ == "__main__":
    main()
