#!/usr/bin/env python3
"""How a capture's time and memory grow: over tokens, heads, layers, documents and ranks."""
import math

import contest
import measure
import models
from measure import QKSCOPE, QUICK, SCRATCH, run, table

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


def ranks():
    """A study of two models over four groups, by one process of two threads and by two ranks of one."""
    folder = SCRATCH / "growth-study"
    folder.mkdir(exist_ok=True)
    study = folder / "study.yaml"
    model, text = models.made(BASE, "float32"), models.tokens(1024, 8)
    study.write_text(f"name: ranks\nkind: models\ntext: {{path: {text}}}\n"
                     "capture: {sampler: all, groups: 4}\nfigures: none\nmodels:\n"
                     + "".join(f"  - {{label: m{i}, family: f, model: {model}, max_length: 1024}}\n"
                               for i in range(2)))
    print("### Over ranks\n")
    rows = []
    for count in (1, 2):
        measure.say(f"ranks {count}")
        out = folder / f"out-{count}"
        run("rm", "-rf", out)
        own = ["env", f"OMP_NUM_THREADS={2 // count}"]
        launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", count] if count > 1 else []
        one = run(*own, *launch, QKSCOPE, "run", study, "--out", out)
        rows.append([count, 2 // count, f"{one.wall:.2f}"])
    print(table(["ranks", "threads each", "wall, s"], rows) + "\n")


def main():
    stamp = measure.Stamp()
    print("## Engine: how cost grows\n")
    print(f"`qkscope capture` from start to end, {BASE.name}'s shape in float32, {BASE.layers} layers "
          "unless said otherwise, moments of all heads and tokens, two threads.\n")
    over("tokens", TOKENS, lambda n: capture(BASE, n), BASE.flops)
    over("layers", LAYERS, lambda n: capture(models.SMALL.cut(n), 2048),
         lambda n: models.SMALL.cut(n).flops(2048))
    over("heads", HEADS, lambda n: capture(BASE, 2048, 1, "--heads", n, "--seed", 0),
         lambda n: BASE.flops(2048))
    over("documents", DOCUMENTS, lambda n: capture(BASE, 2048, n), lambda n: n * BASE.flops(2048))
    ranks()
    print(stamp)


if __name__ == "__main__":
    main()
