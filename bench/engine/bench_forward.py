#!/usr/bin/env python3
"""The forward pass: qkscope with all-token moments of all heads beside PyTorch and llama.cpp."""
import statistics

import contest
import measure
import models
from measure import BUILD, FULL, QUICK, run, spread, table

# shape, tokens, layers that every side computes whole, turns.
CASES = [(models.SMALL, 2048, 30, 3), (models.SMALL, 8192, 6, 3),
         (models.LARGE, 2048, 4, 3), (models.LARGE, 8192, 1, 3)]
QUICK_CASES = [(models.SMALL, 2048, 6, 2), (models.LARGE, 2048, 1, 2)]
PEERS = {"PyTorch f32": 1.1, "llama.cpp f32": 1.5, "llama.cpp bf16": 1.5, "PyTorch bf16, capture": 5}
SHARE = 0.85


LAST = {"qkscope": "queries and keys", "llama.cpp": "attention", "PyTorch": "whole"}


def depth(name, shape, layers):
    """In a cut model those who leave out most of the last layer get one more."""
    return shape.cut(layers if layers == shape.layers or name.startswith("PyTorch") else layers + 1)


def contenders(shape, tokens, layers):
    def at(name):
        return depth(name, shape, layers)

    return {
        "qkscope f32": contest.qkscope(at("qkscope"), "float32", tokens),
        "qkscope bf16": contest.qkscope(at("qkscope"), "bfloat16", tokens),
        "PyTorch f32": contest.torch(at("PyTorch"), "float32", tokens),
        "llama.cpp f32": contest.llama(at("llama.cpp"), "float32", tokens),
        "llama.cpp bf16": contest.llama(at("llama.cpp"), "bfloat16", tokens),
        "PyTorch bf16, capture": contest.torch(at("PyTorch"), "bfloat16", tokens, "capture"),
    }


def sgemm_rate():
    rates = {line.split("\t")[0]: line.split("\t")[1:]
             for line in run(BUILD / "bench" / "bench_limits", contest.THREADS).output.splitlines()}
    return max(float(rate) for rate in rates["sgemm"])


def play(shape, tokens, layers, turns):
    sides = contenders(shape, tokens, layers)
    limit = []
    slow = "PyTorch bf16, capture"
    for turn in range(turns):
        limit.append(sgemm_rate())
        for name, side in sides.items():
            if name != slow or turn == 0 or FULL:
                measure.say(f"{shape.name} {tokens} {turn + 1}/{turns} {name}")
                side.turn()
    for side in sides.values():
        side.close()
    return sides, limit


def work(name, shape, tokens, layers):
    return depth(name, shape, layers).flops(tokens, LAST[name.split()[0]])


def ratio(peer, mine, scale):
    """Of medians, and the range that single turns allow."""
    low, high = scale * min(peer) / max(mine), scale * max(peer) / min(mine)
    middle = scale * statistics.median(peer) / statistics.median(mine)
    return f"**{middle:.2f}x** ({low:.2f} to {high:.2f})"


def rows_of(shape, tokens, layers, sides, limit):
    best, cut = statistics.median(limit), layers != shape.layers
    for name, side in sides.items():
        flops = work(name, shape, tokens, layers)
        rate = flops / statistics.median(side.walls) / 1e9
        ratios = ["", "", ""]
        if name in PEERS:
            # a cut model: for the same amount of work
            scale = work("qkscope", shape, tokens, layers) / flops if cut else 1
            ratios = [ratio(side.walls, sides[mine].walls, scale)
                      for mine in ("qkscope f32", "qkscope bf16")] + [f"{PEERS[name]}x"]
        yield [f"{shape.name}, {layers} layers", tokens, name, spread(side.walls),
               f"{rate:.0f} ({100 * rate / best:.0f}%)", *ratios, f"{statistics.median(side.cpus):.1f}"]


def main():
    stamp = measure.Stamp("torch", "transformers", "llama-cpp-python", "numpy")
    run("cmake", "--build", BUILD, "--target", "benches")
    rows, limits, shares = [], [], []
    for shape, tokens, layers, turns in QUICK_CASES if QUICK else CASES:
        sides, limit = play(shape, tokens, layers, turns)
        rows += rows_of(shape, tokens, layers, sides, limit)
        limits += limit
        for name in ("qkscope f32", "qkscope bf16") if shape is models.LARGE else ():
            rate = work(name, shape, tokens, layers) / statistics.median(sides[name].walls) / 1e9
            shares.append(f"{tokens} tokens, {name.split()[1]} weights "
                          f"**{100 * rate / statistics.median(limit):.0f}%**")
    print("## Engine: the forward pass\n")
    print(f"Random weights of SmolLM2-135M's and Llama-3.2-1B's shape, the same numbers and tokens for "
          f"all, {contest.THREADS} threads each, models open before the clock starts, taking turns. "
          "qkscope's pass gathers moments of all tokens and all heads and writes them to a file. PyTorch runs transformers' model without its head (sdpa); with "
          "`capture`, queries and keys of sampled positions are taken to float32 as the published "
          "study did. llama.cpp has OpenBLAS and its own defaults, and gives the last token's logits. "
          "All 30 layers of the small shape at 2,048 tokens: ratios of wall time. Where layers are "
          "cut, qkscope and llama.cpp, which both leave out most of the last layer, get one more than "
          "the table says, and ratios are those of time per useful operation. GFLOP/s count useful operations (causal attention once), "
          "with the share of sgemm's rate measured between the turns.\n")
    print(table(["shape", "tokens", "program", "wall, s", "GFLOP/s", "to qkscope f32",
                 "to qkscope bf16", "target", "processor, s"], rows))
    print(f"\nThe machine's sgemm: {spread(limits, 1)} GFLOP/s. Share of it on the 1B shape (target "
          f"{100 * SHARE:.0f}%): {'; '.join(shares)}.\n")
    print(stamp)


if __name__ == "__main__":
    main()
