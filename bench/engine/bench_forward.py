#!/usr/bin/env python3
"""The forward pass: qkscope with all-token moments of all heads beside PyTorch and llama.cpp."""
import statistics

import contest
import measure
import models
from measure import BUILD, FULL, QUICK, run, spread, table

# shape, tokens, layers that the peers run, turns. qkscope gets a layer more, of which it computes
# queries and keys: in a cut model its stop there would save it too much.
CASES = [(models.SMALL, 2048, 30, 3), (models.SMALL, 8192, 6, 3),
         (models.LARGE, 2048, 4, 3), (models.LARGE, 8192, 2, 2)]
QUICK_CASES = [(models.SMALL, 2048, 6, 2), (models.LARGE, 2048, 1, 2)]
PEERS = {"PyTorch f32": 1.1, "llama.cpp f32": 1.5, "llama.cpp bf16": 1.5, "PyTorch bf16, capture": 5}
SHARE = 0.85


def contenders(shape, tokens, layers):
    whole = layers == shape.layers
    peers, ours = shape.cut(layers), shape if whole else shape.cut(layers + 1)
    ids = models.tokens(tokens)
    return {
        "qkscope f32": contest.qkscope(ours, "float32", ids),
        "qkscope bf16": contest.qkscope(ours, "bfloat16", ids),
        "PyTorch f32": contest.torch(peers, "float32", ids),
        "llama.cpp f32": contest.llama(peers, "float32", ids),
        "llama.cpp bf16": contest.llama(peers, "bfloat16", ids),
        "PyTorch bf16, capture": contest.torch(peers, "bfloat16", ids, "capture"),
    }, ours, peers


def sgemm_rate():
    rates = {line.split("\t")[0]: line.split("\t")[1:]
             for line in run(BUILD / "bench" / "bench_limits", contest.THREADS).output.splitlines()}
    return max(float(rate) for rate in rates["sgemm"])


def play(shape, tokens, layers, turns):
    sides, ours, peers = contenders(shape, tokens, layers)
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
    return sides, ours, peers, limit


def ratio(peer, mine):
    """Of medians, and the range that single turns allow."""
    low, high = min(peer) / max(mine), max(peer) / min(mine)
    return f"**{statistics.median(peer) / statistics.median(mine):.2f}x** ({low:.2f} to {high:.2f})"


def rows_of(shape, tokens, layers, played):
    sides, ours, peers, limit = played
    best = statistics.median(limit)
    for name, side in sides.items():
        mine = name.startswith("qkscope")
        flops = ours.flops(tokens) if mine else peers.flops(tokens, last_whole=True)
        rate = flops / statistics.median(side.walls) / 1e9
        f32, bf16 = (ratio(side.walls, sides[which].walls) for which in ("qkscope f32", "qkscope bf16"))
        goal = "" if mine else f"{PEERS[name]}x"
        yield [f"{shape.name}, {layers} layers", tokens, name, spread(side.walls),
               f"{rate:.0f} ({100 * rate / best:.0f}%)", "" if mine else f32, "" if mine else bf16,
               goal, f"{statistics.median(side.cpus):.1f}"]


def main():
    stamp = measure.Stamp("torch", "transformers", "llama-cpp-python", "numpy")
    run("cmake", "--build", BUILD, "--target", "benches")
    rows, limits, shares = [], [], []
    for shape, tokens, layers, turns in QUICK_CASES if QUICK else CASES:
        played = play(shape, tokens, layers, turns)
        rows += rows_of(shape, tokens, layers, played)
        limits += played[3]
        if shape is models.LARGE:
            for name in ("qkscope f32", "qkscope bf16"):
                rate = played[1].flops(tokens) / statistics.median(played[0][name].walls) / 1e9
                shares.append(f"{tokens} tokens, {name.split()[1]} weights "
                              f"**{100 * rate / statistics.median(played[3]):.0f}%**")
    print("## Engine: the forward pass\n")
    print(f"Random weights of SmolLM2-135M's and Llama-3.2-1B's shape, the same numbers and tokens for "
          f"all, {contest.THREADS} threads each, models open before the clock starts, taking turns. "
          "qkscope's pass gathers moments of all tokens and all heads, key pairs and samples, and "
          "writes the unit file. PyTorch runs transformers' model without its head (sdpa); with "
          "`capture`, queries and keys of sampled positions are taken to float32 as the published "
          "study did. llama.cpp has OpenBLAS and its own defaults, and gives the last token's logits. "
          "Where layers are cut, the peers run as many as the table says, qkscope those and the "
          "queries and keys of one more. GFLOP/s count useful operations (causal attention once), "
          "with the share of sgemm's rate measured between the turns.\n")
    print(table(["shape", "tokens", "program", "wall, s", "GFLOP/s", "to qkscope f32",
                 "to qkscope bf16", "target", "processor, s"], rows))
    print(f"\nThe machine's sgemm: {spread(limits, 1)} GFLOP/s. Share of it on the 1B shape (target "
          f"{100 * SHARE:.0f}%): {'; '.join(shares)}.\n")
    print(stamp)


if __name__ == "__main__":
    main()
