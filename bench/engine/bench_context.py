#!/usr/bin/env python3
"""Peak memory of one document of 32,768 tokens: qkscope beside llama.cpp and transformers.

A whole pass of the 1B shape at that length takes a quarter of an hour. Memory does not need it: a peer
holds all of its layers' weights and (llama.cpp) the whole cache before the first step; so each side
opens the whole model and computes a part, and what the rest would add is added from sizes."""
import contest
import measure
import models
from measure import BUILD, QUICK, SCRATCH, run, table

TOKENS = 4096 if QUICK else 32768
SHAPE = models.SMALL if QUICK else models.LARGE
OURS, THEIRS = 2, 1  # layers that qkscope begins (the last as far as queries and keys), transformers
PART = 1024  # tokens that llama.cpp runs in its whole context
TARGETS = {"llama.cpp, f32": 4, "llama.cpp, bf16": 4, "transformers, f32": 10,
           "transformers, bf16": 10}


def ours(dtype):
    """Moments of a layer go to the file as the next begins: a further layer adds nothing."""
    one = run(measure.QKSCOPE, "capture", models.made(SHAPE, dtype), "--text", models.tokens(TOKENS),
              "--max-length", TOKENS, "--layers", f"0-{OURS - 1}", "--threads", contest.THREADS,
              "--out", SCRATCH / "memory-out")
    return one.peak, 0


def peer(side, added):
    side.turn()
    peak = side.peak()
    side.close()
    return peak, added


def main():
    stamp = measure.Stamp("torch", "transformers", "llama-cpp-python")
    run("cmake", "--build", BUILD, "--target", "benches")
    found = {}
    for dtype, name in (("float32", "f32"), ("bfloat16", "bf16")):
        measure.say(f"qkscope, {name}")
        found[f"qkscope, {name}"] = ours(dtype)
        measure.say(f"llama.cpp, {name}")
        found[f"llama.cpp, {name}"] = peer(contest.llama(SHAPE, dtype, TOKENS, PART), 0)
        measure.say(f"transformers, {name}")
        width = 4 if name == "f32" else 2
        cache = 2 * SHAPE.k * TOKENS * width * (SHAPE.layers - THEIRS) / 2**20
        found[f"transformers, {name}"] = peer(
            contest.torch(SHAPE, dtype, TOKENS, f"layers={THEIRS}", "cache"), cache)
    rows = []
    for name, (peak, added) in found.items():
        mine = sum(found[f"qkscope, {name.split()[-1]}"])
        is_peer = name in TARGETS
        rows.append([name, f"{peak:.0f}", f"{added:.0f}", f"{peak + added:.0f}",
                     f"**{(peak + added) / mine:.1f}x**" if is_peer else "",
                     f"{TARGETS[name]}x" if is_peer else ""])
    print("## Engine: memory of a long document\n")
    print(f"One document of {TOKENS} tokens, {SHAPE.name}'s shape, {SHAPE.layers} layers. Largest "
          "resident size in MB, mapped weights included. Each side opens the whole model; to save time "
          f"qkscope and transformers compute one whole layer, llama.cpp {PART} tokens in a context "
          f"of {TOKENS}. Added from sizes: for transformers the cache of the other layers (its default "
          "keeps one). transformers runs without its head, whose logits of all tokens would take "
          f"{TOKENS * 128256 * 4 / 2**30:.0f} GB more with a vocabulary of 128,256.\n")
    print(table(["program", "measured", "added", "together", "to qkscope", "target"], rows) + "\n")
    print(stamp)


if __name__ == "__main__":
    main()
