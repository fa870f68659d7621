#!/usr/bin/env python3
"""Writes checkpoints with what the models beside this folder do not have, in the layout that their
README.md tells (pip install transformers==5.22.2 torch): random weights, queries and keys as they
enter the score."""
import json
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import save_file
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.llama import modeling_llama

TOKENS, VOCABULARY = 40, 48
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 40, "num_attention_heads": 4,
         "num_key_value_heads": 2, "num_hidden_layers": 3, "max_position_embeddings": 128, "pad_token_id": 0}
CASES = {  # name: class, type of the weights, what it exercises, config
    "glm": ("Glm", "bfloat16", "quarter of each head rotated; fused gate and up; qkv bias", {
        "head_dim": 16, "attention_bias": True, "rope_parameters": {
            "rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}}),
    "llama-linear-biased": ("Llama", "float16", "linear scaling; biases on q, k, v, o and the MLP; gelu", {
        "attention_bias": True, "mlp_bias": True, "hidden_act": "gelu", "rope_parameters": {
            "rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}}),
    "mistral-no-window": ("Mistral", "bfloat16", "no window; head_dim that is not hidden / heads", {
        "head_dim": 20, "sliding_window": None, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}),
    "ministral3-window": ("Ministral3", "bfloat16", "not in a wrapper; yarn with its own betas; window", {
        "head_dim": 16, "sliding_window": 9, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "beta_fast": 16.0, "beta_slow": 2.0,
            "original_max_position_embeddings": 16, "llama_4_scaling_beta": 0.1, "mscale": 1.0, "mscale_all_dim": 0.8}}),
    "qwen2-late-window": ("Qwen2", "float32", "window from layer 1 on", {
        "use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}),
    "qwen3-yarn-exact": ("Qwen3", "bfloat16", "yarn with attention_factor and truncate false; q/k/v/o bias", {
        "head_dim": 16, "attention_bias": True, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 16,
            "attention_factor": 1.3, "truncate": False}}),
    "smollm3-pattern": ("SmolLM3", "float16", "rope in layer 1 only; a window in the layers without", {
        "no_rope_layers": [0, 1, 0], "use_sliding_window": True, "sliding_window": 9,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e6}}),
    "gemma3-scaled": ("Gemma3Text", "bfloat16", "layer_types without a pattern; linear scaling of global layers", {
        "head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 20,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"], "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}),
    "llama-biased": ("Llama", "bfloat16", "biases on q, k, v and o: ../gguf has them in its order", {
        "attention_bias": True, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}),
}
seen = {}


def probe(module, query, key, value, mask, scaling, **options):
    seen[f"q.{module.layer_idx}"], seen[f"k.{module.layer_idx}"] = query[0], key[0]
    return modeling_llama.eager_attention_forward(module, query, key, value, mask, scaling, **options)


def fill(model, plus_one):
    for name, parameter in model.named_parameters():
        deviation = 0.3 if parameter.dim() == 1 else (2 / parameter.shape[-1]) ** 0.5
        about = 1 if "norm" in name and not plus_one else 0
        parameter.copy_(torch.randn_like(parameter) * deviation + about)


def make(folder, kind, dtype, exercises, config):
    name = {"Gemma3Text": "Gemma3"}.get(kind, kind) + "ForCausalLM"
    model_class = getattr(transformers, name)
    settings = getattr(transformers, kind + "Config")(**(SIZES | config))
    model = model_class(settings)
    fill(model, kind == "Gemma3Text")
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="probe").eval()
    ids = torch.randint(0, VOCABULARY, (1, TOKENS))
    seen.clear()
    model.model(input_ids=ids)
    tensors = {name: value.contiguous() for name, value in seen.items()}
    save_file(tensors | {"input_ids": ids[0].to(torch.int32)}, folder / "expected.safetensors")
    (folder / "case.json").write_text(json.dumps({"exercises": exercises, "tolerance": 1e-4,
                                                  "layers": list(range(settings.num_hidden_layers))}, indent=1))


@torch.no_grad()
def main():
    ALL_ATTENTION_FUNCTIONS.register("probe", probe)
    ALL_MASK_ATTENTION_FUNCTIONS.register("probe", ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    torch.manual_seed(0)
    for name, case in CASES.items():
        folder = pathlib.Path(__file__).with_name(name)
        shutil.rmtree(folder, ignore_errors=True)
        make(folder, *case)


main()
