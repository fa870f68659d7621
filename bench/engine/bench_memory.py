#!/usr/bin/env python3
"""Peak memory of a capture, by the model's depth and the document's length, on random weights of
SmolLM3-3B's layer shape. What counts is anonymous resident memory (RssAnon): what the run needs
beyond the mapped weights, whose pages are the page cache's."""
import json
import pathlib
import shutil
import subprocess
import sys
import time

import numpy

import measure
from measure import FULL, QKSCOPE, SCRATCH, table

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, D, LAYERS = 2048, 11008, 16, 4, 128, 36
VOCABULARY = 1024  # rows are looked up, never multiplied with
DEPTHS, LENGTHS = (4, 8), (8192, 16384, 32768)  # the deeper: the first length only, unless --full
TARGET = 1.5  # GB at the last length
PAUSE = 0.02  # seconds between looks


def tensors(depth):
    yield "model.embed_tokens.weight", (VOCABULARY, HIDDEN)
    for n in range(depth):
        layer = f"model.layers.{n}."
        yield layer + "input_layernorm.weight", (HIDDEN,)
        yield layer + "post_attention_layernorm.weight", (HIDDEN,)
        yield layer + "self_attn.q_proj.weight", (HEADS * D, HIDDEN)
        yield layer + "self_attn.k_proj.weight", (KV_HEADS * D, HIDDEN)
        yield layer + "self_attn.v_proj.weight", (KV_HEADS * D, HIDDEN)
        yield layer + "self_attn.o_proj.weight", (HIDDEN, HEADS * D)
        yield layer + "mlp.gate_proj.weight", (INTERMEDIATE, HIDDEN)
        yield layer + "mlp.up_proj.weight", (INTERMEDIATE, HIDDEN)
        yield layer + "mlp.down_proj.weight", (HIDDEN, INTERMEDIATE)


def bf16(values):
    return (values.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()


def values(number, shape):
    if len(shape) == 1:
        return numpy.ones(shape, numpy.float32)
    draw = numpy.random.default_rng(number)
    return draw.standard_normal(shape, numpy.float32) * numpy.float32(0.02)


def make_model(folder, depth):
    """config.json, and model.safetensors in bf16, which the safetensors library cannot write from
    numpy."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "smollm3", "hidden_size": HIDDEN, "intermediate_size": INTERMEDIATE,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "num_hidden_layers": depth,
        "vocab_size": VOCABULARY, "rms_norm_eps": 1e-6, "rope_theta": 5e6,
        "max_position_embeddings": 65536, "hidden_act": "silu", "attention_bias": False,
        "mlp_bias": False}))
    header, offset = {}, 0
    for name, shape in tensors(depth):
        size = 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for number, (_, shape) in enumerate(tensors(depth)):
            file.write(bf16(values(number, shape)))
    return offset


def anonymous(pid):
    """KB that the process holds now; 0 when it is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)


def peak(*command):
    """GB at most, and seconds. The program replaces itself once when it starts: its number stays."""
    start, most = time.perf_counter(), 0
    with subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE,
                          text=True) as process:
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(PAUSE)
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))}\nfailed: {process.stderr.read()}")
    return most * 1024 / 1e9, time.perf_counter() - start


def measured(model, length):
    text, out = SCRATCH / "engine" / "tokens.jsonl", SCRATCH / "engine" / "captured"
    ids = numpy.random.default_rng(length).integers(0, VOCABULARY, length).tolist()
    text.write_text(json.dumps({"input_ids": ids}))
    result = peak(QKSCOPE, "capture", model, "--text", text, "--max-length", length, "--out", out)
    shutil.rmtree(out)
    return result


def full_cache(layers, length):
    """GB of keys and values of all layers in float32, as the run keeps those of one."""
    return 2 * layers * KV_HEADS * D * 4 * length / 1e9


def main():
    stamp = measure.Stamp("numpy")
    rows, peaks = [], {}
    for depth in DEPTHS:
        model = SCRATCH / "engine" / f"smollm3-shape-{depth}"
        weights = make_model(model, depth)
        for length in LENGTHS if FULL or depth == DEPTHS[0] else LENGTHS[:1]:
            print(f"  {depth} layers, {length} tokens", file=sys.stderr)
            peaks[depth, length], seconds = measured(model, length)
            rows.append([depth, f"{length:,}", f"{weights / 1e9:.2f}",
                         f"**{peaks[depth, length]:.2f}**", f"{full_cache(LAYERS, length):.2f}",
                         f"{seconds:.0f}"])
        shutil.rmtree(model)
    longest = LENGTHS[-1]
    both = [length for length in LENGTHS if (DEPTHS[1], length) in peaks]
    grown = max(abs(peaks[DEPTHS[1], length] - peaks[DEPTHS[0], length]) for length in both)
    worst = max(peaks[depth, length] for depth, length in peaks if length == longest)
    print(f"## Memory of capture\n\nRandom bf16 weights of SmolLM3-3B's layer shape, one document, "
          f"every head of every layer, moments kept. Peak is resident memory beyond the mapped "
          f"weights; the cache is what keys and values of all {LAYERS} layers of the real model "
          f"would take.\n")
    print(table(["layers", "tokens", "weights, mapped (GB)", "peak beyond them (GB)",
                 "full KV cache, f32 (GB)", "seconds"], rows))
    print(f"\nAt {longest:,} tokens: {worst:.2f} GB, target < {TARGET} GB "
          f"({'met' if worst < TARGET else 'MISSED'}); {DEPTHS[1]} layers and {DEPTHS[0]} layers "
          f"differ by {grown * 1000:.1f} MB at most, over the same text.\n\n{stamp}")


if __name__ == "__main__":
    main()
