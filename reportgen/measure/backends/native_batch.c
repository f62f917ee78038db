/* The batch loop and the clock of the CPU backend: no interpreter runs between the first and the last launch of a batch. */
#define _GNU_SOURCE
#include "reportgen_native.h"

#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct {
    void (*function)(const reportgen_arg *);
    const reportgen_arg *args;
} reportgen_call;

typedef struct {
    int64_t started_ns;
    int64_t elapsed_ns;
    int64_t lead_in_ns;
    int64_t descheduled; /* -1 where the system does not tell */
} reportgen_time;

/* The raw clock is not slewed by time synchronisation, which would stretch a second by up to 0.05 %. */
#ifdef CLOCK_MONOTONIC_RAW
#define CLOCK CLOCK_MONOTONIC_RAW
#else
#define CLOCK CLOCK_MONOTONIC
#endif

int64_t reportgen_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t involuntary_switches(void)
{
#ifdef RUSAGE_THREAD
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return usage.ru_nivcsw;
#endif
    return -1;
}

void reportgen_replay(const reportgen_call *calls, int64_t count, int64_t replays)
{
    for (int64_t replay = 0; replay < replays; replay++)
        for (int64_t call = 0; call < count; call++)
            calls[call].function(calls[call].args);
}

void reportgen_batch(const reportgen_call *calls, int64_t count, int64_t lead_in, int64_t replays, reportgen_time *out)
{
    int64_t switches = involuntary_switches();
    int64_t began = reportgen_now();
    reportgen_replay(calls, count, lead_in);
    int64_t started = reportgen_now();
    reportgen_replay(calls, count, replays);
    int64_t ended = reportgen_now();
    out->started_ns = started;
    out->elapsed_ns = ended - started;
    out->lead_in_ns = started - began;
    out->descheduled = switches < 0 ? -1 : involuntary_switches() - switches;
}

/* Dependent integer work that belongs to no arm: nanoseconds that `rounds` of it took. */
int64_t reportgen_spin(int64_t rounds)
{
    volatile uint64_t sink;
    uint64_t state = 1;
    int64_t began = reportgen_now();
    for (int64_t round = 0; round < rounds; round++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    sink = state;
    (void)sink;
    return reportgen_now() - began;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static void add(uint64_t sums[2], uint64_t value, uint64_t place)
{
    sums[0] += mix(value ^ (place + 1) * 0x9E3779B97F4A7C15u);
    sums[1] += mix(value + (place + 1) * 0xD1B54A32D192ED03u);
}

/* Two sums over the words and their places, as cuda_harness.cu has them and docs/record-format.md defines them. */
void reportgen_checksum(const unsigned char *bytes, int64_t size, uint64_t *out)
{
    uint64_t sums[2] = {0, 0}, last = 0;
    int64_t words = size / 8;
    for (int64_t place = 0; place < words; place++) {
        uint64_t value;
        memcpy(&value, bytes + 8 * place, 8);
        add(sums, value, place);
    }
    memcpy(&last, bytes + 8 * words, size % 8);
    add(sums, last, words);
    memcpy(out, sums, sizeof sums);
}
