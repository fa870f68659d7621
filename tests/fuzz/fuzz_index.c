/* model.safetensors.index.json beside a small model in two shards. Input: the file. Whatever it
 * says, no file outside of the folder may be opened. */
#include "fuzz.h"

#include "model/checkpoint.h"

#include <stdlib.h>
#include <string.h>

static void write_shard(const char *name, const char *header, size_t data)
{
    enum { ROOM = 512 };
    char bytes[ROOM] = {0};
    uint64_t length = strlen(header);
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, header, (size_t)length);
    (void)fuzz_write(name, bytes, sizeof length + (size_t)length + data);
}

static void write_model(void)
{
    static const char config[] =
        "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8,"
        " \"num_attention_heads\": 2, \"intermediate_size\": 12, \"vocab_size\": 10}";
    (void)fuzz_write("config.json", config, strlen(config));
    write_shard("a.safetensors",
                "{\"x\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}", 8);
    write_shard("b.safetensors",
                "{\"y\": {\"dtype\": \"F16\", \"shape\": [2, 2], \"data_offsets\": [0, 8]}}", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static int written;
    if (!written++)
        write_model();
    (void)fuzz_write("model.safetensors.index.json", bytes, length);
    checkpoint c = {0};
    architecture a = {0};
    qks_error error;
    qks_status status = folder_read(&c, &a, fuzz_folder(), NULL, &error);
    for (size_t i = 0; status == QKS_OK && i < c.files.length; i++)
        if (strcmp(c.files.data[i].path, fuzz_path("a.safetensors")) != 0 &&
            strcmp(c.files.data[i].path, fuzz_path("b.safetensors")) != 0)
            fuzz_fail("a file that is not the model's was opened");
    checkpoint_close(&c);
    architecture_close(&a);
    return 0;
}
