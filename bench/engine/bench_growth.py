#!/usr/bin/env python3
"""How a capture's time and memory grow: over tokens, layers, heads and documents, and the demo's over
ranks (study/ranks has more of those). Draws docs/scaling.png."""
import math

import contest
import measure
import models
from matplotlib import pyplot, ticker
from measure import BENCH, QKSCOPE, QUICK, SCRATCH, run, table
from study import bench_ranks

BASE = models.SMALL.cut(4)
TOKENS = [1024, 2048, 4096] if QUICK else [1024, 2048, 4096, 8192, 16384, 32768]
LAYERS = [2, 4] if QUICK else [2, 4, 8, 16]
HEADS = [8, 36] if QUICK else [4, 9, 18, 36]
DOCUMENTS = [1, 4] if QUICK else [1, 2, 4, 8, 16]
REPEATS = 3  # the median counts


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
        runs.append(sorted((job(size) for _ in range(REPEATS)), key=lambda one: one.wall)[REPEATS // 2])
    walls = [one.wall for one in runs]
    rows = [[size, f"{one.wall:.2f}", f"{one.peak:.0f}", f"{flops(size) / 1e9:.0f}",
             f"{flops(size) / one.wall / 1e9:.0f}"] for size, one in zip(sizes, runs)]
    print(f"### Over {what}\n")
    print(table([what, "wall, s", "peak, MB", "GFLOP", "GFLOP/s"], rows))
    print(f"\nExponent of the last step: {exponent(sizes, walls):.2f}.\n")
    return sizes, walls


def over_ranks():
    with bench_ranks.bare_study() as study:
        return bench_ranks.RANKS, [bench_ranks.capture(study, n)[0] for n in bench_ranks.RANKS]


def draw(found):
    """All panels span the same factor of time, so that slopes compare; dashed: in proportion."""
    figure, places = pyplot.subplots(1, len(found), figsize=(13, 3), layout="constrained")
    span = max(max(walls) / min(walls) for _, walls in found.values()) * 1.5
    plain = ticker.FuncFormatter(lambda x, _: f"{x / 1024:g}K" if x >= 1024 else f"{x:g}")
    for place, (what, (sizes, walls)) in zip(places, found.items()):
        middle = math.sqrt(max(walls) * min(walls))
        slope = -1 if what == "ranks" else 1
        place.plot(sizes, [walls[-1] * (size / sizes[-1]) ** slope for size in sizes], "--",
                   color="0.6", linewidth=1)
        place.plot(sizes, walls, "o-", color="#3b82f6")
        place.set_xscale("log", base=2)
        place.set_yscale("log", base=2)
        place.set(xlabel=what, xticks=sizes,
                  ylim=(middle / math.sqrt(span), middle * math.sqrt(span)))
        place.xaxis.set_major_formatter(plain)
        place.yaxis.set_major_formatter(plain)
        place.minorticks_off()
        place.grid(alpha=0.3)
    places[0].set_ylabel("wall, s")
    figure.savefig(BENCH.parent / "docs" / "scaling.png", dpi=120)


def main():
    stamp = measure.Stamp()
    print("## Engine: how cost grows\n")
    print(f"`qkscope capture` from start to end, {BASE.name}'s shape in float32, {BASE.layers} layers "
          f"unless said otherwise, moments of all heads and tokens, two threads; medians of {REPEATS}.\n")
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
        draw(found | {"ranks": over_ranks()})
    print(stamp)


if __name__ == "__main__":
    main()
