#!/usr/bin/env python3
"""What the two published studies cost, on paper: operations counted from the models' shapes, hours at
the rates given. Prints the tables of docs/scaling.md: studies.py

Shapes are those of the published config.json files. Every query head's layer is needed, so all layers
count, the last as far as its queries and keys; attention counts the keys that a query sees."""
from shapes import Shape

DOCUMENTS = 500
RATES = {"this machine, 2 cores": 0.18, "one GPU, float32": 40, "one GPU, TF32": 200,
         "eight GPUs, TF32": 1600, "cluster of 64 GPUs, TF32": 12800}  # TFLOP/s
LONG = 131072
MODELS = [(Shape(name, hidden, ffn, layers, q, k, d, 0), LONG) for name, hidden, ffn, layers, q, k, d in (
    ("qwen3-0.6b", 1024, 3072, 28, 16, 8, 128), ("qwen3-1.7b", 2048, 6144, 28, 16, 8, 128),
    ("qwen3-4b", 2560, 9728, 36, 32, 8, 128), ("qwen3-8b", 4096, 12288, 36, 32, 8, 128),
    ("qwen3-14b", 5120, 17408, 40, 40, 8, 128), ("llama3.2-1b", 2048, 8192, 16, 32, 8, 64),
    ("llama3.2-3b", 3072, 8192, 28, 24, 8, 128), ("llama3.2-11b", 4096, 14336, 32, 32, 8, 128),
    ("ministral3-3b", 3072, 9216, 26, 32, 8, 128), ("ministral3-8b", 4096, 14336, 34, 32, 8, 128),
    ("ministral3-14b", 5120, 16384, 40, 32, 8, 128))]
SMOLLM3 = Shape("smollm3", 2048, 11008, 36, 16, 4, 128, 0)
TRAINING = [(SMOLLM3, length) for length in [4096] * 6 + [32768] * 2 + [65536] * 2]


def attention_share(shape, tokens):
    return (shape.layers - 1) * 2 * shape.q * tokens * (tokens + 1) / shape.flops(tokens)


def hours(flops, rate):
    value = flops / rate / 1e12 / 3600
    if value >= 24 * 365:
        return f"{value / 24 / 365:.0f} years"
    return f"{value / 24:.0f} days" if value >= 72 else f"{value:.1f} h"


def main():
    studies = {"models (11, at 131,072 tokens)": MODELS,
               "training (10 checkpoints, 4,096 to 65,536)": TRAINING}
    print("| model | PFLOP per document | attention's share |\n|---|---|---|")
    for shape, tokens in MODELS + TRAINING[5:7] + TRAINING[9:]:
        print(f"| {shape.name} at {tokens:,} | {shape.flops(tokens) / 1e15:.2f} | "
              f"{100 * attention_share(shape, tokens):.0f}% |")
    print(f"\n| study, {DOCUMENTS} documents | EFLOP | " + " | ".join(RATES) + " |")
    print("|---" * (2 + len(RATES)) + "|")
    for name, runs in studies.items():
        for times in (1, 100):
            flops = times * DOCUMENTS * sum(shape.flops(tokens) for shape, tokens in runs)
            print(f"| {name}{'' if times == 1 else ', x 100'} | {flops / 1e18:,.0f} | "
                  + " | ".join(hours(flops, rate) for rate in RATES.values()) + " |")


if __name__ == "__main__":
    main()
