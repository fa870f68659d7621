/* clock.h: time that only goes forward, for measuring how long something takes. */
#ifndef QKS_BASE_CLOCK_H
#define QKS_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_nanoseconds(void);
double clock_seconds(void);

#endif
