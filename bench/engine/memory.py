"""Peak memory of capture on a model of SmolLM3-3B's layer shape (random weights), by depth and length.

    python3 bench/engine/memory.py [--layers 4,8] [--tokens 8192,16384,32768] [--folder build/bench]

Counts anonymous resident memory (RssAnon): what the run needs beyond the mapped weights, whose pages
belong to the page cache. Beside it stands what a cache of all keys and values of the real model's 36
layers would take. Memory must not depend on the number of layers."""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import time

SHAPE = {"hidden_size": 2048, "intermediate_size": 11008, "num_attention_heads": 16,
         "num_key_value_heads": 4, "head_dim": 128}
REAL_LAYERS, VOCABULARY, BLOCK = 36, 1024, 1 << 20


def bf16(value):
    return struct.pack("<f", value)[2:]


def tensors(layers):
    h, i = SHAPE["hidden_size"], SHAPE["intermediate_size"]
    q = SHAPE["num_attention_heads"] * SHAPE["head_dim"]
    k = SHAPE["num_key_value_heads"] * SHAPE["head_dim"]
    yield "model.embed_tokens.weight", [VOCABULARY, h]
    for n in range(layers):
        at = f"model.layers.{n}."
        yield at + "input_layernorm.weight", [h]
        yield at + "post_attention_layernorm.weight", [h]
        for name, shape in (("q", [q, h]), ("k", [k, h]), ("v", [k, h]), ("o", [h, q])):
            yield f"{at}self_attn.{name}_proj.weight", shape
        for name, shape in (("gate", [i, h]), ("up", [i, h]), ("down", [h, i])):
            yield f"{at}mlp.{name}_proj.weight", shape


def make_model(folder, layers):
    os.makedirs(folder, exist_ok=True)
    config = dict(SHAPE, model_type="smollm3", num_hidden_layers=layers, vocab_size=VOCABULARY,
                  rms_norm_eps=1e-6, rope_theta=5e6, max_position_embeddings=65536,
                  hidden_act="silu", attention_bias=False, mlp_bias=False)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    header, offset = {}, 0
    for name, shape in tensors(layers):
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    random.seed(0)
    noise = b"".join(bf16(random.gauss(0, 0.02)) for _ in range(BLOCK))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, facts in header.items():
            left = facts["data_offsets"][1] - facts["data_offsets"][0]
            content = bf16(1.0) * (left // 2) if "layernorm" in name else None
            while left:
                part = content or noise[:min(left, len(noise))]
                file.write(part)
                left -= len(part)


def peak_of(command):
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    peak, started = 0, time.monotonic()
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                for line in file:
                    if line.startswith("RssAnon:"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(process.stderr.read())
    return peak / 1024, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", default="4,8")
    parser.add_argument("--tokens", default="8192,16384,32768")
    parser.add_argument("--folder", default="build/bench")
    parser.add_argument("--program", default="build/qkscope")
    options = parser.parse_args()
    print("| layers | tokens | peak beyond weights (MB) | all keys and values, 36 layers, f32 (MB) "
          "| seconds |")
    print("|---|---|---|---|---|")
    for layers in (int(n) for n in options.layers.split(",")):
        model = os.path.join(options.folder, f"smollm3-shape-{layers}")
        make_model(model, layers)
        for tokens in (int(n) for n in options.tokens.split(",")):
            text = os.path.join(options.folder, "tokens.jsonl")
            with open(text, "w", encoding="utf-8") as file:
                json.dump({"input_ids": [(7 * t * t + t) % VOCABULARY for t in range(tokens)]}, file)
            out = os.path.join(options.folder, "captured")
            peak, seconds = peak_of([options.program, "capture", model, "--text", text,
                                     "--max-length", str(tokens), "--out", out])
            cache = (2 * REAL_LAYERS * SHAPE["num_key_value_heads"] * SHAPE["head_dim"] * 4 *
                     tokens / 2**20)
            print(f"| {layers} | {tokens} | {peak:.0f} | {cache:.0f} | {seconds:.0f} |", flush=True)
            shutil.rmtree(out)
        shutil.rmtree(model)


main()
