#!/usr/bin/env python3
"""llama.cpp as a peer, in its own process: peer_llama.py MODEL.gguf TOKENS THREADS [LIMIT]

Answers each line on stdin with a prefill of the tokens into an empty cache: wall and processor
seconds. Batches of 2048 in steps of 512 and flash attention chosen by llama.cpp, its defaults;
only the last token's logits are asked for. LIMIT: the context has room for all tokens, but only so
many are run, which is all that peak memory needs."""
import ctypes
import json
import math
import pathlib
import sys
import time

import llama_cpp as llama

BATCH, STEP = 2048, 512


@llama.llama_log_callback
def quiet(_level, _text, _data):
    pass


def opened(path, length, threads):
    llama.llama_log_set(quiet, ctypes.c_void_p(0))
    llama.llama_backend_init()
    model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
    options = llama.llama_context_default_params()
    options.n_ctx, options.n_batch, options.n_ubatch = length, BATCH, STEP
    options.n_threads = options.n_threads_batch = threads
    context = llama.llama_init_from_model(model, options)
    if not model or not context:
        sys.exit("llama.cpp cannot open the model")
    return model, context


def prefill(context, ids):
    llama.llama_memory_clear(llama.llama_get_memory(context), False)
    for first in range(0, len(ids), BATCH):
        part = ids[first:first + BATCH]
        array = (llama.llama_token * len(part))(*part)  # the batch only points to it
        if llama.llama_decode(context, llama.llama_batch_get_one(array, len(part))) != 0:
            sys.exit("llama.cpp cannot decode")
    llama.llama_synchronize(context)


def main():
    path, tokens, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    ids = json.loads(pathlib.Path(tokens).read_text().split("\n", 1)[0])["input_ids"]
    model, context = opened(path, len(ids), threads)
    if len(sys.argv) > 4:
        ids = ids[:int(sys.argv[4])]
    print("ready", flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        prefill(context, ids)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert math.isfinite(llama.llama_get_logits(context)[0])
        print(f"{wall:.6f} {cpu:.6f}", flush=True)
    llama.llama_free(context)
    llama.llama_model_free(model)


main()
