/* Preloaded into both guards of a run: the time of day is off by as many seconds as the file named by CLOCK_STEP says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long step_s(void)
{
    long seconds = 0;
    FILE *file = fopen(getenv("CLOCK_STEP"), "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &seconds) != 1)
            seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = next(clock, now);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += step_s();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec read;
    (void)zone;
    int failed = clock_gettime(CLOCK_REALTIME, &read);
    now->tv_sec = read.tv_sec;
    now->tv_usec = read.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *out)
{
    struct timespec read;
    clock_gettime(CLOCK_REALTIME, &read);
    if (out != NULL)
        *out = read.tv_sec;
    return read.tv_sec;
}
