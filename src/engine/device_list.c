/* device_list.c: the devices that ggml finds, for include/qkscope/version.h. The first call starts
 * ggml's backends, which may take a while where there are graphics cards. */
#include "base/memory.h"
#include "qkscope/version.h"

#include <ggml-backend.h>

static const char *kind_name(enum ggml_backend_dev_type type)
{
    switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
        return "cpu";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
        return "gpu";
    case GGML_BACKEND_DEVICE_TYPE_IGPU:
        return "integrated gpu";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
        return "accelerator";
    default:
        return "other";
    }
}

qks_status qks_devices(qks_device **devices, size_t *count, qks_error *error)
{
    size_t n = ggml_backend_dev_count();
    qks_status status = memory_zeroed(devices, n + 1, sizeof **devices, error);
    for (size_t i = 0; status == QKS_OK && i < n; i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        size_t unused = 0;
        qks_device *d = &(*devices)[i];
        d->name = ggml_backend_dev_name(device);
        d->description = ggml_backend_dev_description(device);
        d->kind = kind_name(ggml_backend_dev_type(device));
        ggml_backend_dev_memory(device, &unused, &d->memory);
    }
    *count = status == QKS_OK ? n : 0;
    return status;
}
