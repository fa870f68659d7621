"""Random checkpoints of real models' shapes, as Hugging Face directories and as GGUF; token files.

A model is made once per scratch folder, in a process of its own: what a benchmark starts would count
the benchmark's own memory as its peak. Weights are normal with a deviation of 0.02, norms are 1:
what they are decides no speed, only that sums stay finite."""
import json
import subprocess
import sys

import gguf
import numpy as np

from measure import SCRATCH
from shapes import Shape

HEAD = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True,
        "rms_norm_eps": 1e-5, "max_position_embeddings": 131072, "initializer_range": 0.02,
        "bos_token_id": 0, "eos_token_id": 0}

SMALL = Shape("smollm2-135m", 576, 1536, 30, 9, 3, 64, 1e5)  # SmolLM2-135M
LARGE = Shape("llama3.2-1b", 2048, 8192, 16, 32, 8, 64, 5e5)  # Llama-3.2-1B


def config(shape, dtype):
    return HEAD | {"hidden_size": shape.hidden, "intermediate_size": shape.intermediate,
                   "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
                   "num_key_value_heads": shape.kv_heads, "head_dim": shape.d,
                   "rope_theta": shape.theta, "vocab_size": shape.vocabulary, "dtype": dtype}


def tensors(shape):
    """Name in the Hugging Face layout, name in GGUF, shape."""
    h, i = shape.hidden, shape.intermediate
    yield "model.embed_tokens.weight", "token_embd.weight", (shape.vocabulary, h)
    for n in range(shape.layers):
        hf, gg = f"model.layers.{n}.", f"blk.{n}."
        yield hf + "input_layernorm.weight", gg + "attn_norm.weight", (h,)
        yield hf + "self_attn.q_proj.weight", gg + "attn_q.weight", (shape.q, h)
        yield hf + "self_attn.k_proj.weight", gg + "attn_k.weight", (shape.k, h)
        yield hf + "self_attn.v_proj.weight", gg + "attn_v.weight", (shape.k, h)
        yield hf + "self_attn.o_proj.weight", gg + "attn_output.weight", (h, shape.q)
        yield hf + "post_attention_layernorm.weight", gg + "ffn_norm.weight", (h,)
        yield hf + "mlp.gate_proj.weight", gg + "ffn_gate.weight", (i, h)
        yield hf + "mlp.up_proj.weight", gg + "ffn_up.weight", (i, h)
        yield hf + "mlp.down_proj.weight", gg + "ffn_down.weight", (h, i)
    yield "model.norm.weight", "output_norm.weight", (h,)


def values(number, shape):
    """The same numbers for every layout, representable in bf16."""
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    random = np.random.default_rng(number)
    numbers = random.standard_normal(shape, np.float32) * np.float32(0.02)
    return (numbers.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def as_bf16(numbers):
    return (numbers.view(np.uint32) >> 16).astype(np.uint16)


def write_safetensors(path, shape, bf16):
    """The safetensors library has no bf16 for numpy, so the file is written by hand."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, _, dims in tensors(shape):
        size = int(np.prod(dims)) * (2 if bf16 else 4)
        header[name] = {"dtype": "BF16" if bf16 else "F32", "shape": list(dims),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for number, (_, _, dims) in enumerate(tensors(shape)):
            numbers = values(number, dims)
            file.write((as_bf16(numbers) if bf16 else numbers).tobytes())


def make_folder(shape, dtype, folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "model.safetensors", shape, dtype == "bfloat16")
    (folder / "config.json").write_text(json.dumps(config(shape, dtype)))


def permuted(numbers, heads):
    """GGUF's order of q and k rows: pairs (i, i + d/2) become neighbours."""
    rows, columns = numbers.shape
    return numbers.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def make_gguf(shape, dtype, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    writer = gguf.GGUFWriter(part, "llama")
    writer.add_context_length(131072)
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.intermediate)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.d)
    writer.add_value_length(shape.d)
    writer.add_rope_dimension_count(shape.d)
    writer.add_rope_freq_base(shape.theta)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_tokenizer_model("no_vocab")
    for number, (_, name, dims) in enumerate(tensors(shape)):
        numbers = values(number, dims)
        if "attn_q." in name or "attn_k." in name:
            numbers = permuted(numbers, shape.heads if "attn_q." in name else shape.kv_heads)
        if dtype == "bfloat16" and len(dims) > 1:
            writer.add_tensor(name, as_bf16(numbers).view(np.uint8),
                              raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            writer.add_tensor(name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.rename(path)


def make(shape, dtype, kind):
    subprocess.run([sys.executable, __file__, shape.name, str(shape.layers), dtype, kind], check=True)


def folder_of(shape, dtype):
    return SCRATCH / "models" / f"{shape.name}-{shape.layers}-{dtype}"


def made(shape, dtype):
    """The model as a Hugging Face directory; dtype is "float32" or "bfloat16"."""
    folder = folder_of(shape, dtype)
    if not (folder / "config.json").exists():
        make(shape, dtype, "folder")
    return folder


def made_gguf(shape, dtype):
    path = folder_of(shape, dtype).with_name(folder_of(shape, dtype).name + ".gguf")
    if not path.exists():
        make(shape, dtype, "gguf")
    return path


def tokens(count, documents=1, vocabulary=8192):
    """A JSONL file of ready token ids, a document per line."""
    path = SCRATCH / f"tokens-{count}x{documents}.jsonl"
    if not path.exists():
        lines = []
        for number in range(documents):
            ids = np.random.default_rng(number).integers(0, vocabulary, count)
            lines.append(json.dumps({"id": number, "input_ids": ids.tolist()}))
        path.write_text("\n".join(lines) + "\n")
    return path


def main():
    name, layers, dtype, kind = sys.argv[1:]
    shape = next(one for one in (SMALL, LARGE) if one.name == name).cut(int(layers))
    folder = folder_of(shape, dtype)
    if kind == "folder":
        make_folder(shape, dtype, folder)
    else:
        make_gguf(shape, dtype, folder.with_name(folder.name + ".gguf"))


if __name__ == "__main__":
    main()
