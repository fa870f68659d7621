/* device.h: ggml backends by name. */
#ifndef QKS_ENGINE_DEVICE_H
#define QKS_ENGINE_DEVICE_H

#include "qkscope/status.h"

#include <ggml-backend.h>
#include <stdbool.h>

typedef struct device {
    ggml_backend_t backend;
    bool host; /* the cpu backend: tensors are in this process's memory, custom operators run */
    int threads;
} device;

QKS_MUST_CHECK qks_status device_open(device *d, const char *name, int threads, qks_error *error);
void device_close(device *d);

#endif
