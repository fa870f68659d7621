/* backwards.c: a clock on the wall that goes back one hour at each look (LD_PRELOAD). The monotonic
 * clocks go on as they are. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long looks;

static long gone_back(void)
{
    return 3600 * (atomic_fetch_add(&looks, 1) + 1);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec -= gone_back();
    return result;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    if (result == 0 && now)
        now->tv_sec -= gone_back();
    return result;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
