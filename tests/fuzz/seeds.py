"""Writes the inputs that fuzzing begins with, a folder for each target, from the fixtures.

    seeds.py QKSCOPE OUT
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

program, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
tests = pathlib.Path(__file__).resolve().parent.parent
data, root = tests / "data", tests.parent


def put(target, name, content):
    (out / target).mkdir(parents=True, exist_ok=True)
    (out / target / name).write_bytes(content)


def each(target, pattern, make=lambda content: content):
    found = sorted(root.glob(pattern))
    assert found, pattern
    for path in found:
        put(target, "-".join(path.relative_to(root).parts), make(path.read_bytes()))


def safetensors(content):
    header = 8 + struct.unpack_from("<Q", content)[0]
    return struct.pack("<I", max(0, len(content) - header)) + content[:header]


def gguf_header(content):
    """Where the data begins: the header is walked."""
    at = 24
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def number(form):
        nonlocal at
        value = struct.unpack_from("<" + form, content, at)[0]
        at += struct.calcsize(form)
        return value

    def skip(kind, count):
        nonlocal at
        for _ in range(count if kind == 8 else 1):
            step = number("Q") if kind == 8 else sizes[kind] * count
            at += step

    tensors, keys = struct.unpack_from("<QQ", content, 8)
    for _ in range(keys):
        skip(8, 1)
        kind = number("I")
        if kind == 9:
            kind = number("I")
            skip(kind, number("Q"))
        else:
            skip(kind, 1)
    for _ in range(tensors):
        skip(8, 1)
        step = 8 * number("I") + 12
        at += step
    return -(-at // 32) * 32


def gguf(content):
    length = gguf_header(content)
    return struct.pack("<I", max(0, len(content) - length)) + content[:length]


def units():
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "ids.jsonl"
        # Many groups, since the more there are the fewer vectors a unit samples, and the smaller it is.
        text.write_text('{"input_ids": [1, 2, 3, 4, 5, 6]}\n' * 100)
        for name, more in {"plain": ["--pairs", "none"], "pairs": ["--pairs", "3"]}.items():
            made = pathlib.Path(folder) / name
            subprocess.run([program, "capture", data / "models/qwen3-yarn", "--text", text, "--layers",
                            "0", "--heads", "1", "--bucket", "3", "--max-length", "6", "--out", made,
                            "--groups", "100", *more], check=True, stderr=subprocess.DEVNULL)
            put("unit", name, (made / "units/group-0000.unit").read_bytes())


each("safetensors", "tests/data/models/*/model.safetensors", safetensors)
each("safetensors", "tests/data/broken/*/model.safetensors", safetensors)
each("index", "tests/data/models/*/model.safetensors.index.json")
put("index", "two", b'{"metadata": {}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}')
each("config", "tests/data/models/*/config.json")
each("config", "tests/data/broken/*/config.json")
put("config", "override", (data / "models/llama-gqa/config.json").read_bytes()
    + b'\0{"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 128}')
each("gguf", "tests/data/gguf/*.gguf", gguf)
each("gguf", "tests/data/tokenizers_gguf/*/vocab.gguf", gguf)
each("tokenizer", "tests/data/tokenizers*/*/tokenizer.json")
lines = (root / "demo/text.jsonl").read_bytes().splitlines()[:2]
put("corpus", "lines", b"\0" + b"\n".join(line[:200] + b'"}' for line in lines) + b"\n")
put("corpus", "tokens", b'\0{"id": "a", "input_ids": [1, 2, 3]}\n{"id": 7, "input_ids": []}\n')
put("corpus", "csv", b'\1id,text\n1,"a, ""b"""\n2,c\n')
put("corpus", "json", b'\2[{"id": 1.5, "text": "a\\u00e9"}, {"id": null, "text": null}]')
for path in sorted(data.glob("analysis/dataset/l00h00k/data.parquet")):
    put("corpus", "parquet", b"\3" + path.read_bytes()[-2000:])
units()
each("study", "demo/*.yaml")
each("study", "studies/*.yaml")
put("study", "small", b"name: x\nkind: training\ntext: {path: /dev/null, column: text, limit: 3}\n"
    b"capture: {heads: 3, seed: 1, sampler: log_uniform, bucket: 2, rate: 0.5, pairs: 4}\n"
    b"defaults: &d {max_length: 128, rope_theta: 1e4}\n"
    b"models: [{label: 'a', phase: b, model: c/d@e, rope_scaling: {rope_type: yarn, factor: 4}}]\n"
    b"portraits: [a]\nfigures: [3, heatmaps]\n")
card = (data / "analysis/dataset/README.md").read_bytes()
put("card", "fixture", card)
put("card", "plain", b"- `model`: `a`\n- `max_length`: `7`\n* head_sampling_num_layers: 3\n")
put("dataset", "whole", bytes([4, 0, 0, 1, 0, 2, 0, 3, 9, 4, 0, 3]) + card)
put("dataset", "fixed", bytes([3, 0, 1, 1, 1, 2, 3, 3, 10, 2]))
put("dataset", "double", bytes([3, 0, 0, 1, 0, 2, 0, 3, 11, 4]) + card)
put("dataset", "wrong", bytes([2, 0, 7, 1, 0, 3, 17, 2]))
