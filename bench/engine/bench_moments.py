#!/usr/bin/env python3
"""What all-token moments of all heads cost over the same pass without them."""
import statistics

import contest
import measure
import models
from measure import BUILD, QUICK, run, spread, table

CASES = [(models.SMALL.cut(8), 2048, 1), (models.SMALL.cut(8), 2048, 4), (models.SMALL.cut(4), 8192, 1),
         (models.LARGE.cut(3), 2048, 1)]
TURNS = 2 if QUICK else 12
TARGET = 3


def ratios(walls, plain):
    """Turn by turn: a machine's speed changes more between turns than moments cost."""
    return [wall / without for wall, without in zip(walls, plain)]


def row(shape, tokens, documents):
    side = contest.qkscope(shape, "float32", tokens, documents)
    kinds = {"plain": [], "moments": [], "unit": []}
    side.turn("plain", count=False)
    for turn in range(TURNS):
        measure.say(f"{shape.name} {documents} x {tokens} {turn + 1}/{TURNS}")
        for kind in sorted(kinds, reverse=turn % 2):  # what follows a unit meets its writeback
            kinds[kind].append(side.turn(kind))
    side.close()
    cost = [f"**{100 * (statistics.median(ratios(kinds[kind], kinds['plain'])) - 1):.1f}%**"
            for kind in ("moments", "unit")]
    return [f"{shape.name}, {shape.layers} layers", f"{documents} x {tokens}",
            *(spread(walls) for walls in kinds.values()), *cost]


def main():
    stamp = measure.Stamp()
    run("cmake", "--build", BUILD, "--target", "benches")
    rows = [row(*case) for case in (CASES[:1] if QUICK else CASES)]
    print("## Engine: what moments cost\n")
    print("Wall seconds of a pass that keeps nothing, of one that gathers moments of all tokens and "
          "heads, and of one that makes a whole unit: moments, key pairs, sampled vectors, the file. "
          f"Taking turns, {TURNS} each; a cost is the median of the turns' ratios.\n")
    print(table(["shape", "documents x tokens", "nothing kept", "moments", "unit", "cost of moments",
                 "cost of a unit"], rows))
    print(f"\nTarget for moments: at most {TARGET}%.\n")
    print(stamp)


if __name__ == "__main__":
    main()
