/* weight_names.c: the tables of tensor names. */
#include "model/weight_names.h"

#include <stdio.h>
#include <string.h>

/* A type's own row comes before the row for any type. */
static const weight_name folder_names[] = {
    {WEIGHT_FFN_NORM, PART_WHOLE, "pre_feedforward_layernorm.weight", "gemma3_text"},
    {WEIGHT_POST_ATTENTION_NORM, PART_WHOLE, "post_attention_layernorm.weight", "gemma3_text"},
    {WEIGHT_POST_FFN_NORM, PART_WHOLE, "post_feedforward_layernorm.weight", "gemma3_text"},
    {WEIGHT_POST_ATTENTION_NORM, PART_WHOLE, "post_self_attn_layernorm.weight", "glm4"},
    {WEIGHT_POST_FFN_NORM, PART_WHOLE, "post_mlp_layernorm.weight", "glm4"},
    {WEIGHT_GATE, PART_FIRST_HALF, "mlp.gate_up_proj.weight", "glm"},
    {WEIGHT_UP, PART_SECOND_HALF, "mlp.gate_up_proj.weight", "glm"},
    {WEIGHT_GATE, PART_FIRST_HALF, "mlp.gate_up_proj.weight", "glm4"},
    {WEIGHT_UP, PART_SECOND_HALF, "mlp.gate_up_proj.weight", "glm4"},
    {WEIGHT_ATTENTION_NORM, PART_WHOLE, "input_layernorm.weight", NULL},
    {WEIGHT_Q, PART_WHOLE, "self_attn.q_proj.weight", NULL},
    {WEIGHT_K, PART_WHOLE, "self_attn.k_proj.weight", NULL},
    {WEIGHT_V, PART_WHOLE, "self_attn.v_proj.weight", NULL},
    {WEIGHT_O, PART_WHOLE, "self_attn.o_proj.weight", NULL},
    {WEIGHT_Q_BIAS, PART_WHOLE, "self_attn.q_proj.bias", NULL},
    {WEIGHT_K_BIAS, PART_WHOLE, "self_attn.k_proj.bias", NULL},
    {WEIGHT_V_BIAS, PART_WHOLE, "self_attn.v_proj.bias", NULL},
    {WEIGHT_O_BIAS, PART_WHOLE, "self_attn.o_proj.bias", NULL},
    {WEIGHT_Q_NORM, PART_WHOLE, "self_attn.q_norm.weight", NULL},
    {WEIGHT_K_NORM, PART_WHOLE, "self_attn.k_norm.weight", NULL},
    {WEIGHT_FFN_NORM, PART_WHOLE, "post_attention_layernorm.weight", NULL},
    {WEIGHT_GATE, PART_WHOLE, "mlp.gate_proj.weight", NULL},
    {WEIGHT_UP, PART_WHOLE, "mlp.up_proj.weight", NULL},
    {WEIGHT_DOWN, PART_WHOLE, "mlp.down_proj.weight", NULL},
    {WEIGHT_GATE_BIAS, PART_WHOLE, "mlp.gate_proj.bias", NULL},
    {WEIGHT_UP_BIAS, PART_WHOLE, "mlp.up_proj.bias", NULL},
    {WEIGHT_DOWN_BIAS, PART_WHOLE, "mlp.down_proj.bias", NULL},
};

static const weight_name gguf_names[] = {
    {WEIGHT_GATE, PART_FIRST_HALF, "ffn_up.weight", "glm4"},
    {WEIGHT_UP, PART_SECOND_HALF, "ffn_up.weight", "glm4"},
    {WEIGHT_ATTENTION_NORM, PART_WHOLE, "attn_norm.weight", NULL},
    {WEIGHT_Q, PART_WHOLE, "attn_q.weight", NULL},
    {WEIGHT_K, PART_WHOLE, "attn_k.weight", NULL},
    {WEIGHT_V, PART_WHOLE, "attn_v.weight", NULL},
    {WEIGHT_O, PART_WHOLE, "attn_output.weight", NULL},
    {WEIGHT_Q_BIAS, PART_WHOLE, "attn_q.bias", NULL},
    {WEIGHT_K_BIAS, PART_WHOLE, "attn_k.bias", NULL},
    {WEIGHT_V_BIAS, PART_WHOLE, "attn_v.bias", NULL},
    {WEIGHT_O_BIAS, PART_WHOLE, "attn_output.bias", NULL},
    {WEIGHT_Q_NORM, PART_WHOLE, "attn_q_norm.weight", NULL},
    {WEIGHT_K_NORM, PART_WHOLE, "attn_k_norm.weight", NULL},
    {WEIGHT_POST_ATTENTION_NORM, PART_WHOLE, "post_attention_norm.weight", NULL},
    {WEIGHT_FFN_NORM, PART_WHOLE, "ffn_norm.weight", NULL},
    {WEIGHT_GATE, PART_WHOLE, "ffn_gate.weight", NULL},
    {WEIGHT_UP, PART_WHOLE, "ffn_up.weight", NULL},
    {WEIGHT_DOWN, PART_WHOLE, "ffn_down.weight", NULL},
    {WEIGHT_GATE_BIAS, PART_WHOLE, "ffn_gate.bias", NULL},
    {WEIGHT_UP_BIAS, PART_WHOLE, "ffn_up.bias", NULL},
    {WEIGHT_DOWN_BIAS, PART_WHOLE, "ffn_down.bias", NULL},
    {WEIGHT_POST_FFN_NORM, PART_WHOLE, "post_ffw_norm.weight", NULL},
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
        {WEIGHT_Q, PART_Q, "attn_qkv.weight", NULL},
        {WEIGHT_K, PART_K, "attn_qkv.weight", NULL},
        {WEIGHT_V, PART_V, "attn_qkv.weight", NULL},
        {WEIGHT_Q_BIAS, PART_Q, "attn_qkv.bias", NULL},
        {WEIGHT_K_BIAS, PART_K, "attn_qkv.bias", NULL},
        {WEIGHT_V_BIAS, PART_V, "attn_qkv.bias", NULL},
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
