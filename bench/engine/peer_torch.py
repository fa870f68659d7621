#!/usr/bin/env python3
"""PyTorch + transformers as a peer, in its own process: peer_torch.py MODEL TOKENS THREADS DTYPE [OPTION...]

Answers each line on stdin with a pass over the tokens: wall and processor seconds. Options: `cache` keeps
keys and values, as transformers does by default; `layers=N` computes the first N only; with `capture`,
queries and keys after RoPE are kept in the way of the published study: an attention
function sees them, draws the positions of each layer, and takes every head's vectors at those to
float32 in memory. Writing them to disk is not counted."""
import json
import math
import pathlib
import sys
import time

import numpy
import torch
from transformers import AutoModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

BUCKET, RATE = 8192, 1  # a token is kept with probability RATE / BUCKET; at 128K tokens 16 per document
kept = {}


def capturing(module, query, key, value, *arguments, **options):
    """scaled_dot_product_attention, after a look at its queries and keys [1, heads, n, d]."""
    n = query.shape[2]
    for kind, tensor in (("q", query), ("k", key)):
        generator = torch.Generator().manual_seed(2 * module.layer_idx + (kind == "q"))
        chosen = torch.rand(n, generator=generator) < min(1, RATE / BUCKET)
        positions = chosen.nonzero().squeeze(1)
        rows = tensor[0, :, positions].detach().to("cpu", torch.float32).numpy()
        for head in range(rows.shape[0]):
            kept.setdefault((module.layer_idx, head, kind), []).append(
                (positions.numpy(), numpy.ascontiguousarray(rows[head])))
    return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, value, *arguments, **options)


def main():
    model, tokens, threads, dtype, *options = sys.argv[1:]
    torch.set_num_threads(int(threads))
    implementation = "sdpa"
    if "capture" in options:
        ALL_ATTENTION_FUNCTIONS.register("sdpa_capturing", capturing)
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
        ALL_MASK_ATTENTION_FUNCTIONS.register("sdpa_capturing", ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
        implementation = "sdpa_capturing"
    network = AutoModel.from_pretrained(model, dtype=getattr(torch, dtype),
                                        attn_implementation=implementation).eval()
    all_layers = network.layers  # stay in memory
    for option in options:
        if option.startswith("layers="):
            network.layers = all_layers[:int(option.removeprefix("layers="))]
            network.config.num_hidden_layers = len(network.layers)
            for weights in all_layers.parameters():  # mapped ones become resident, as in a whole pass
                weights.abs().max()
    ids = torch.tensor([json.loads(pathlib.Path(tokens).read_text().split("\n", 1)[0])["input_ids"]])
    print("ready", flush=True)
    for _ in sys.stdin:
        kept.clear()
        wall, cpu = time.perf_counter(), time.process_time()
        with torch.inference_mode():
            out = network(ids, use_cache="cache" in options).last_hidden_state
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert math.isfinite(out[0, -1, 0].item())
        print(f"{wall:.6f} {cpu:.6f}", flush=True)


main()
