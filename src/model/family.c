/* family.c: the model types that qkscope reads. */
#include "model/family.h"

#include "model/architecture.h"

#include <stddef.h>
#include <string.h>

static const char ministral3_scaling[] =
    "{\"rope_type\": \"yarn\", \"rope_theta\": 1000000.0, \"factor\": 16.0,"
    " \"original_max_position_embeddings\": 16384, \"beta_fast\": 32.0, \"beta_slow\": 1.0,"
    " \"mscale\": 1.0, \"mscale_all_dim\": 1.0, \"llama_4_scaling_beta\": 0.1}";

static const family families[] = {
    {.type = "llama",
     .biases = BIAS_QKVO_FIELD,
     .ffn_bias_field = true,
     .theta = 1e4,
     .norm_epsilon = 1e-6},
    {.type = "mistral",
     .windows = WINDOW_ALL,
     .window = 4096,
     .theta = 1e4,
     .norm_epsilon = 1e-6,
     .sizes = {32, 4096, 32, 8, 14336, 32000}},
    {.type = "ministral3",
     .windows = WINDOW_ALL,
     .theta = 1e6,
     .norm_epsilon = 1e-5,
     .head_dim = 128,
     .scaling = ministral3_scaling,
     .sizes = {34, 4096, 32, 8, 14336, 131072}},
    {.type = "qwen2",
     .windows = WINDOW_LATE,
     .window = 4096,
     .biases = BIAS_QKV,
     .theta = 1e4,
     .norm_epsilon = 1e-6},
    {.type = "qwen3",
     .windows = WINDOW_LATE,
     .window = 4096,
     .biases = BIAS_QKVO_FIELD,
     .q_k_norm = true,
     .theta = 1e4,
     .norm_epsilon = 1e-6,
     .head_dim = 128},
    {.type = "smollm3",
     .windows = WINDOW_NOPE,
     .biases = BIAS_QKVO_FIELD,
     .ffn_bias_field = true,
     .nope = true,
     .theta = 2e6,
     .norm_epsilon = 1e-6},
    {.type = "mllama_text_model",
     .cross_attention = true,
     .extra_embeddings = 8,
     .theta = 5e5,
     .norm_epsilon = 1e-5,
     .sizes = {40, 4096, 32, 8, 14336, 128256}},
    {.type = "gemma3_text",
     .windows = WINDOW_PATTERN,
     .window = 4096,
     .biases = BIAS_QKVO_FIELD,
     .gemma = true,
     .q_k_norm = true,
     .norms_after = true,
     .theta = 1e6,
     .norm_epsilon = 1e-6,
     .head_dim = 256,
     .sizes = {26, 2304, 8, 4, 9216, 262208}},
    {.type = "glm",
     .biases = BIAS_QKV_FIELD,
     .partial_rotary = true,
     .theta = 1e4,
     .norm_epsilon = 1.5625e-7,
     .head_dim = 128},
    {.type = "glm4",
     .biases = BIAS_QKV_FIELD,
     .partial_rotary = true,
     .norms_after = true,
     .theta = 1e4,
     .norm_epsilon = 1.5625e-7,
     .head_dim = 128},
};

static const struct {
    const char *type, *text, *other; /* model_type of the wrapper, of what it holds */
} wrappers[] = {
    {"mistral3", "mistral", "ministral3"},
    {"mllama", "mllama_text_model", NULL},
    {"gemma3", "gemma3_text", NULL},
};

const family *family_find(const char *type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].type, type) == 0)
            return &families[i];
    return NULL;
}

const char *wrapper_default(const char *type)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(wrappers[i].type, type) == 0)
            return wrappers[i].text;
    return NULL;
}

bool wrapper_holds(const char *wrapper, const char *type)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(wrappers[i].type, wrapper) == 0)
            return strcmp(wrappers[i].text, type) == 0 ||
                   (wrappers[i].other && strcmp(wrappers[i].other, type) == 0);
    return false;
}

const char *architecture_types(void)
{
    return "llama, mistral, mistral3, ministral3, qwen2, qwen3, smollm3, mllama, gemma3, "
           "gemma3_text, glm, glm4";
}
