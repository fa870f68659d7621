"""capture.py FOLDER [ORACLES]: captures every model of the folder through the program and compares
queries and keys with what transformers gave (expected.safetensors): error of a tensor =
max|a - b| / max|b|. With ORACLES the folder has .gguf files, of the first layers of the models of
that name in one of these folders."""
import array
import json
import os
import subprocess
import sys

PROGRAM = os.environ["QKSCOPE"]
SCRATCH = os.environ["QKSCOPE_SCRATCH"]
TOLERANCE = 1e-4  # the fixtures allow gemma3 more, for engines that take gelu from an f16 table
QUANTISED = {"qwen2-bias": 0.02}  # q8_0 keeps seven bits
# Tokens of each document; a token sees none after it, so that of the first few a model makes the same
# whatever follows. Several go through a layer together, in the default chunk all of them.
DOCUMENTS = [9, None, 30, 2, 7]
# How each model is run: threads and chunk sizes, before (if it is known) and after the rotary
# embedding.
RUNS = [
    ["--threads", "2"],
    ["--threads", "2", "--chunk", "64"],
    ["--threads", "1", "--chunk", "7"],
    ["--threads", "2", "--chunk", "1", "--layers", "0-1"],
    ["--threads", "1", "--chunk", "4096", "--pre-rope"],
    ["--threads", "2", "--chunk", "7", "--pre-rope"],
]


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, facts in header.items():
        if name == "__metadata__":
            continue
        first, end = facts["data_offsets"]
        values = array.array({"F32": "f", "I32": "i"}[facts["dtype"]])
        values.frombytes(data[8 + size + first:8 + size + end])
        tensors[name] = (facts["shape"], values)
    return tensors


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\nexit {done.returncode}: {done.stderr}")
    return done.stdout


def captured(folder):
    """Vectors of each head and document, one after the other."""
    rows = json.loads(run("sql", folder, "SELECT parse_path(filename)[-2] AS head, example_id, position, "
                          f"vector FROM read_parquet('{folder}/*/data.parquet', filename = true) "
                          "ORDER BY head, example_id, position", "--json"))
    heads = {}
    for row in rows:
        vector = row["vector"]
        if isinstance(vector, str):
            vector = json.loads(vector)
        heads.setdefault((row["head"], row["example_id"]), []).extend(vector)
    return heads


def worst_error(case, expected, heads, before_rope, layers):
    worst, where = 0.0, ""
    for layer in layers:
        for kind in "qk":
            (n_heads, n, d), values = expected[f"{kind}{'_pre' if before_rope else ''}.{layer}"]
            scale = max(abs(v) for v in values)
            for head in range(n_heads):
                name = f"l{layer:02}h{head:02}{kind}"
                for document, tokens in enumerate(DOCUMENTS):
                    got = heads[name, document]
                    want = values[head * n * d:(head * n + (tokens or n)) * d]
                    if len(got) != len(want):
                        sys.exit(f"{case}: {len(got)} numbers of document {document} in {name}")
                    error = max(abs(a - b) for a, b in zip(got, want)) / scale
                    if error >= worst:
                        worst, where = error, f"{name}, document {document}"
    return worst, where


def layers_of(model, oracle, options):
    """Those that must come out; a .gguf here has the first layers of its model."""
    with open(os.path.join(oracle, "case.json"), encoding="utf-8") as file:
        layers = json.load(file)["layers"]
    if model.endswith(".gguf"):
        there = json.loads(run("inspect", model, "--json"))["layers"]
        layers = [layer for layer in layers if layer < there]
    return [layer for layer in layers if "--layers" not in options or layer <= 1]


def cases():
    """Name, what is captured, the folder with the oracle, the error that is allowed."""
    folder, oracles = sys.argv[1], sys.argv[2:]
    for name in sorted(os.listdir(folder)):
        case, ending = os.path.splitext(name)
        if ending == ".gguf":
            oracle = next(path for path in (os.path.join(o, case) for o in oracles) if os.path.exists(path))
            yield case, os.path.join(folder, name), oracle, QUANTISED.get(case, TOLERANCE)
        elif os.path.exists(os.path.join(folder, name, "expected.safetensors")):
            yield name, os.path.join(folder, name), os.path.join(folder, name), TOLERANCE


def main():
    failed = 0
    for case, model, oracle, allowed in cases():
        expected = read_safetensors(os.path.join(oracle, "expected.safetensors"))
        text = os.path.join(SCRATCH, case + ".jsonl")
        with open(text, "w", encoding="utf-8") as file:
            for document, tokens in enumerate(DOCUMENTS):
                ids = list(expected["input_ids"][1][:tokens])
                file.write(json.dumps({"id": document, "input_ids": ids}) + "\n")
        for number, options in enumerate(RUNS):
            if "--pre-rope" in options and not any(name.startswith("q_pre.") for name in expected):
                continue
            out = os.path.join(SCRATCH, f"{case}-{number}")
            run("capture", model, "--text", text, "--keep", "vectors", "--max-length", "4096",
                "--out", out, *options)
            error, where = worst_error(case, expected, captured(out), "--pre-rope" in options,
                                       layers_of(model, oracle, options))
            verdict = "ok" if error <= allowed else "FAILED"
            failed += verdict != "ok"
            print(f"{case:18} {' '.join(options):45} {error:.1e} at {where} {verdict}")
    sys.exit(failed != 0)


main()
