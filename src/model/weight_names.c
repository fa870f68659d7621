/* weight_names.c: the tables of tensor names. */
#include "model/weight_names.h"

#include <stdio.h>
#include <string.h>

/* A type's own row comes before the row for any type. */
static const weight_name folder_names[] = {
    {WEIGHT_FFN_NORM, "pre_feedforward_layernorm.weight", PART_WHOLE, "gemma3_text"},
    {WEIGHT_POST_ATTENTION_NORM, "post_attention_layernorm.weight", PART_WHOLE, "gemma3_text"},
    {WEIGHT_POST_FFN_NORM, "post_feedforward_layernorm.weight", PART_WHOLE, "gemma3_text"},
    {WEIGHT_POST_ATTENTION_NORM, "post_self_attn_layernorm.weight", PART_WHOLE, "glm4"},
    {WEIGHT_POST_FFN_NORM, "post_mlp_layernorm.weight", PART_WHOLE, "glm4"},
    {WEIGHT_GATE, "mlp.gate_up_proj.weight", PART_FIRST_HALF, "glm"},
    {WEIGHT_UP, "mlp.gate_up_proj.weight", PART_SECOND_HALF, "glm"},
    {WEIGHT_GATE, "mlp.gate_up_proj.weight", PART_FIRST_HALF, "glm4"},
    {WEIGHT_UP, "mlp.gate_up_proj.weight", PART_SECOND_HALF, "glm4"},
    {WEIGHT_ATTENTION_NORM, "input_layernorm.weight", PART_WHOLE, NULL},
    {WEIGHT_Q, "self_attn.q_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_K, "self_attn.k_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_V, "self_attn.v_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_O, "self_attn.o_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_Q_BIAS, "self_attn.q_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_K_BIAS, "self_attn.k_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_V_BIAS, "self_attn.v_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_O_BIAS, "self_attn.o_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_Q_NORM, "self_attn.q_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_K_NORM, "self_attn.k_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_FFN_NORM, "post_attention_layernorm.weight", PART_WHOLE, NULL},
    {WEIGHT_GATE, "mlp.gate_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_UP, "mlp.up_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_DOWN, "mlp.down_proj.weight", PART_WHOLE, NULL},
    {WEIGHT_GATE_BIAS, "mlp.gate_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_UP_BIAS, "mlp.up_proj.bias", PART_WHOLE, NULL},
    {WEIGHT_DOWN_BIAS, "mlp.down_proj.bias", PART_WHOLE, NULL},
};

static const weight_name gguf_names[] = {
    {WEIGHT_GATE, "ffn_up.weight", PART_FIRST_HALF, "glm4"},
    {WEIGHT_UP, "ffn_up.weight", PART_SECOND_HALF, "glm4"},
    {WEIGHT_ATTENTION_NORM, "attn_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_Q, "attn_q.weight", PART_WHOLE, NULL},
    {WEIGHT_K, "attn_k.weight", PART_WHOLE, NULL},
    {WEIGHT_V, "attn_v.weight", PART_WHOLE, NULL},
    {WEIGHT_O, "attn_output.weight", PART_WHOLE, NULL},
    {WEIGHT_Q_BIAS, "attn_q.bias", PART_WHOLE, NULL},
    {WEIGHT_K_BIAS, "attn_k.bias", PART_WHOLE, NULL},
    {WEIGHT_V_BIAS, "attn_v.bias", PART_WHOLE, NULL},
    {WEIGHT_O_BIAS, "attn_output.bias", PART_WHOLE, NULL},
    {WEIGHT_Q_NORM, "attn_q_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_K_NORM, "attn_k_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_POST_ATTENTION_NORM, "post_attention_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_FFN_NORM, "ffn_norm.weight", PART_WHOLE, NULL},
    {WEIGHT_GATE, "ffn_gate.weight", PART_WHOLE, NULL},
    {WEIGHT_UP, "ffn_up.weight", PART_WHOLE, NULL},
    {WEIGHT_DOWN, "ffn_down.weight", PART_WHOLE, NULL},
    {WEIGHT_GATE_BIAS, "ffn_gate.bias", PART_WHOLE, NULL},
    {WEIGHT_UP_BIAS, "ffn_up.bias", PART_WHOLE, NULL},
    {WEIGHT_DOWN_BIAS, "ffn_down.bias", PART_WHOLE, NULL},
    {WEIGHT_POST_FFN_NORM, "post_ffw_norm.weight", PART_WHOLE, NULL},
};

const weight_name *weight_name_find(checkpoint_format format, const char *type, weight_role role)
{
    const weight_name *names = format == FORMAT_GGUF ? gguf_names : folder_names;
    size_t count = format == FORMAT_GGUF ? sizeof gguf_names / sizeof *gguf_names
                                         : sizeof folder_names / sizeof *folder_names;
    for (size_t i = 0; i < count; i++)
        if (names[i].role == role && (!names[i].type || strcmp(names[i].type, type) == 0))
            return &names[i];
    return NULL;
}

const weight_name *weight_name_fused(checkpoint_format format, weight_role role)
{
    static const weight_name fused[] = {
        {WEIGHT_Q, "attn_qkv.weight", PART_Q, NULL},
        {WEIGHT_K, "attn_qkv.weight", PART_K, NULL},
        {WEIGHT_V, "attn_qkv.weight", PART_V, NULL},
        {WEIGHT_Q_BIAS, "attn_qkv.bias", PART_Q, NULL},
        {WEIGHT_K_BIAS, "attn_qkv.bias", PART_K, NULL},
        {WEIGHT_V_BIAS, "attn_qkv.bias", PART_V, NULL},
    };
    for (size_t i = 0; format == FORMAT_GGUF && i < sizeof fused / sizeof *fused; i++)
        if (fused[i].role == role)
            return &fused[i];
    return NULL;
}

const char *weight_embedding_suffix(checkpoint_format format)
{
    return format == FORMAT_GGUF ? "token_embd.weight" : "embed_tokens.weight";
}

const char *weight_layer_word(checkpoint_format format)
{
    return format == FORMAT_GGUF ? "blk" : "layers";
}

const char *weight_prefix(const checkpoint *c)
{
    static const char *const prefixes[] = {"model.", "language_model.model.",
                                           "model.language_model.", "language_model.", ""};
    if (c->format == FORMAT_GGUF)
        return "";
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", prefixes[i], weight_embedding_suffix(c->format));
        if (tensor_table_find(&c->tensors, name))
            return prefixes[i];
    }
    return NULL;
}
