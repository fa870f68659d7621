#!/usr/bin/env python3
"""How a capture's time and memory grow: over tokens, layers, heads and documents (over ranks:
study/ranks). Draws docs/scaling.png."""
import math

import contest
import measure
import models
from matplotlib import pyplot
from measure import BENCH, QKSCOPE, QUICK, SCRATCH, run, table

BASE = models.SMALL.cut(4)
TOKENS = [1024, 2048, 4096] if QUICK else [1024, 2048, 4096, 8192, 16384, 32768]
LAYERS = [2, 4] if QUICK else [2, 4, 8, 16]
HEADS = [8, 36] if QUICK else [4, 9, 18, 36]
DOCUMENTS = [1, 4] if QUICK else [1, 2, 4, 8, 16]


def capture(shape, tokens, documents=1, *options):
    return run(QKSCOPE, "capture", models.made(shape, "float32"), "--text",
               models.tokens(tokens, documents), "--max-length", tokens, "--threads", contest.THREADS,
               "--out", SCRATCH / "growth-out", *options)


def exponent(sizes, times):
    return math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2])


def over(what, sizes, job, flops):
    runs = []
    for size in sizes:
        measure.say(f"{what} {size}")
        runs.append(job(size))
    walls = [one.wall for one in runs]
    rows = [[size, f"{one.wall:.2f}", f"{one.peak:.0f}", f"{flops(size) / 1e9:.0f}",
             f"{flops(size) / one.wall / 1e9:.0f}"] for size, one in zip(sizes, runs)]
    print(f"### Over {what}\n")
    print(table([what, "wall, s", "peak, MB", "GFLOP", "GFLOP/s"], rows))
    print(f"\nExponent of the last step: {exponent(sizes, walls):.2f}.\n")
    return sizes, walls


def draw(found):
    figure, places = pyplot.subplots(1, len(found), figsize=(12, 3), layout="constrained")
    for place, (what, (sizes, walls)) in zip(places, found.items()):
        place.loglog(sizes, walls, "o-", base=2)
        place.set(xlabel=what, ylabel="wall, s")
        place.grid(alpha=0.3)
    figure.savefig(BENCH.parent / "docs" / "scaling.png", dpi=120)


def main():
    stamp = measure.Stamp()
    print("## Engine: how cost grows\n")
    print(f"`qkscope capture` from start to end, {BASE.name}'s shape in float32, {BASE.layers} layers "
          "unless said otherwise, moments of all heads and tokens, two threads.\n")
    found = {
        "tokens": over("tokens", TOKENS, lambda n: capture(BASE, n), BASE.flops),
        "layers": over("layers", LAYERS, lambda n: capture(models.SMALL.cut(n), 2048),
                       lambda n: models.SMALL.cut(n).flops(2048)),
        "heads": over("heads", HEADS, lambda n: capture(BASE, 2048, 1, "--heads", n, "--seed", 0),
                      lambda n: BASE.flops(2048)),
        "documents": over("documents", DOCUMENTS, lambda n: capture(BASE, 2048, n),
                          lambda n: n * BASE.flops(2048)),
    }
    if not QUICK:
        draw(found)
    print(stamp)


if __name__ == "__main__":
    main()
