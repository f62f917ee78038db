// One layer for two decode tokens: routes to rows, rows to their weighted sum, the shared expert's row added. README.md has the contract.
//
// A source names its entry point ENTRY and defines the ideas that it has; KERNEL(_x) is a further kernel of it.

#pragma once

#ifndef EMPTY_PATH
#define EMPTY_PATH 0
#endif
#ifndef ROUTE_CACHE
#define ROUTE_CACHE 0
#endif
#ifndef ALL_ROWS
#define ALL_ROWS 0
#endif
#ifndef PROGRAMMATIC
#define PROGRAMMATIC 0
#endif

constexpr int TOKENS = 2, SLOTS = 6, ROUTES = TOKENS * SLOTS, HIDDEN = 4096;
constexpr int FIRST_EXPERT = 64, LOCAL_EXPERTS = 64;  // of 256, on the second of four devices
constexpr int THREADS = 128, REMAP_THREADS = 96;
constexpr int VALUES = 8, WORDS = VALUES / 2;  // bf16 values of a thread: 16 bytes of each row
constexpr int REMOTE = -1;
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;

// Programmatic launches: the next kernel may take its place on the device now, and this one goes on once its predecessor has ended.
static __device__ __forceinline__ void begin()
{
#if PROGRAMMATIC
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Neighbouring bf16 values, two a word, the lower one first.
struct values {
    unsigned word[WORDS];
};

// What an earlier kernel wrote is read past the first-level cache, which programmatic launches might find as an earlier layer left it.
static __device__ __forceinline__ values load(const unsigned short *from)
{
    uint4 raw = __ldcg((const uint4 *)from);
    return {raw.x, raw.y, raw.z, raw.w};
}

// A route's row, zeros where it is remote. Predicated by hand: the compiler would work out the place only once it is known to be needed.
static __device__ __forceinline__ values load_local(const unsigned short *column, int row)
{
    values found;
    asm volatile("{ .reg .pred local; setp.ge.s32 local, %5, 0; mov.u32 %0, 0; mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;"
                 " @local ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "=&r"(found.word[0]), "=&r"(found.word[1]), "=&r"(found.word[2]), "=&r"(found.word[3])
                 : "l"(column + row * HIDDEN), "r"(row)
                 : "memory");
    return found;
}

static __device__ __forceinline__ void store(unsigned short *to, const values &what)
{
    *(uint4 *)to = make_uint4(what.word[0], what.word[1], what.word[2], what.word[3]);
}

static __device__ __forceinline__ float low(unsigned word) { return __uint_as_float(word << 16); }
static __device__ __forceinline__ float high(unsigned word) { return __uint_as_float(word & 0xFFFF0000u); }

static __device__ __forceinline__ unsigned rounded(float first, float second)
{
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}

// Product and sum are rounded on their own, so that no compiler's choice of fused operations is part of the contract.
static __device__ __forceinline__ void add_weighted(float (&sum)[VALUES], const values &row, float weight)
{
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        sum[2 * w] = __fadd_rn(sum[2 * w], __fmul_rn(weight, low(row.word[w])));
        sum[2 * w + 1] = __fadd_rn(sum[2 * w + 1], __fmul_rn(weight, high(row.word[w])));
    }
}

static __device__ __forceinline__ values to_bf16(const float (&sum)[VALUES])
{
    values found;
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        found.word[w] = rounded(sum[2 * w], sum[2 * w + 1]);
    return found;
}

static __device__ __forceinline__ values plus(const values &routed, const values &shared)
{
    values found;
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        found.word[w] = rounded(__fadd_rn(low(routed.word[w]), low(shared.word[w])), __fadd_rn(high(routed.word[w]), high(shared.word[w])));
    return found;
}

// A thread's token, and the first of its values within a row. Grid: (blocks of a row, tokens).
struct place {
    int token, column;
    __device__ __forceinline__ place() : token(blockIdx.y), column((blockIdx.x * THREADS + threadIdx.x) * VALUES) {}
    __device__ __forceinline__ int offset() const { return token * HIDDEN + column; }
};

// Rows and weights of a token's six routes.
struct routes {
    int row[SLOTS];
    float weight[SLOTS];

    __device__ __forceinline__ void load_rows(const int *route_rows, int token)
    {
        const int2 *from = (const int2 *)(route_rows + token * SLOTS);
#pragma unroll
        for (int pair = 0; pair < SLOTS / 2; pair++) {
            int2 two = __ldcg(from + pair);
            row[2 * pair] = two.x, row[2 * pair + 1] = two.y;
        }
    }

    __device__ __forceinline__ void load_weights(const float *weights, int token)
    {
        const float2 *from = (const float2 *)(weights + token * SLOTS);
#pragma unroll
        for (int pair = 0; pair < SLOTS / 2; pair++) {
            float2 two = __ldcg(from + pair);
            weight[2 * pair] = two.x, weight[2 * pair + 1] = two.y;
        }
    }

    // Six lanes load a route each and hand it to the others.
    __device__ __forceinline__ void load_by_lanes(const int *route_rows, const float *weights, int token)
    {
        int lane = threadIdx.x % 32, slot = token * SLOTS + (lane < SLOTS ? lane : 0);
        int own_row = __ldcg(route_rows + slot);
        float own_weight = __ldcg(weights + slot);
#pragma unroll
        for (int k = 0; k < SLOTS; k++) {
            row[k] = __shfl_sync(EVERY_LANE, own_row, k);
            weight[k] = __shfl_sync(EVERY_LANE, own_weight, k);
        }
    }

    __device__ __forceinline__ bool empty() const
    {
        int all = row[0];
#pragma unroll
        for (int k = 1; k < SLOTS; k++)
            all &= row[k];
        return all == REMOTE;  // rows are not negative otherwise
    }
};

#if ALL_ROWS

// Every row that can exist is asked for before it is known which are wanted; shared memory, each thread its own part, picks among them.
static __device__ __forceinline__ void load_routed(values (&routed)[SLOTS], routes &mine, const unsigned short *column, const int *route_rows,
                                                   const float *weights, int token)
{
    extern __shared__ uint4 staged[];  // [row][thread]
    values all[ROUTES];
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        all[r] = load(column + r * HIDDEN);
    mine.load_rows(route_rows, token);
    mine.load_weights(weights, token);
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        staged[r * THREADS + threadIdx.x] = make_uint4(all[r].word[0], all[r].word[1], all[r].word[2], all[r].word[3]);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        uint4 raw = mine.row[k] >= 0 ? staged[mine.row[k] * THREADS + threadIdx.x] : make_uint4(0, 0, 0, 0);
        routed[k] = {raw.x, raw.y, raw.z, raw.w};
    }
}

#endif

// Weighted sum of a token's local routes in the order of their slots, rounded to bf16. A remote route adds a zero, which changes no bit.
static __device__ __forceinline__ values gathered(const unsigned short *rows, const int *route_rows, const float *weights, const place &here)
{
    routes mine;
    values routed[SLOTS];
    float sum[VALUES] = {};
    const unsigned short *column = rows + here.column;
#if ALL_ROWS
    load_routed(routed, mine, column, route_rows, weights, here.token);
#else
#if ROUTE_CACHE
    mine.load_by_lanes(route_rows, weights, here.token);
#else
    mine.load_rows(route_rows, here.token);
#if EMPTY_PATH
    if (mine.empty())
        return to_bf16(sum);
#endif
    mine.load_weights(weights, here.token);
#endif
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        routed[k] = load_local(column, mine.row[k]);
#endif
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        add_weighted(sum, routed[k], mine.weight[k]);
    return to_bf16(sum);
}

// The layer's routes: row of each route among the experts' outputs (grouped by expert, in the order of tokens and slots), and where each
// local expert's rows begin. One block; every thread reads all twelve expert numbers.
static __device__ __forceinline__ void remap(const int *ids, int *route_rows, int *offsets)
{
    int expert[ROUTES], t = threadIdx.x, own = LOCAL_EXPERTS, row = 0, below = 0;
#pragma unroll
    for (int quad = 0; quad < ROUTES / 4; quad++) {
        int4 four = __ldcg((const int4 *)ids + quad);
        expert[4 * quad] = four.x, expert[4 * quad + 1] = four.y, expert[4 * quad + 2] = four.z, expert[4 * quad + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < ROUTES; k++) {
        unsigned local = expert[k] - FIRST_EXPERT;
        expert[k] = local < LOCAL_EXPERTS ? local : LOCAL_EXPERTS;
        own = k == t ? expert[k] : own;
        below += expert[k] < t;
    }
#pragma unroll
    for (int k = 0; k < ROUTES; k++)
        row += expert[k] < own || (expert[k] == own && k < t);
    if (t < ROUTES)
        route_rows[t] = own < LOCAL_EXPERTS ? row : REMOTE;
    if (t <= LOCAL_EXPERTS)
        offsets[t] = below;
}

// The row that a layer finds as the shared expert's: the first layer's is given, the others' is what the layer before wrote.
static __device__ __forceinline__ const unsigned short *shared_row(const unsigned short *shared, const unsigned short *hidden, int layer)
{
    return layer ? hidden + (layer - 1) * TOKENS * HIDDEN : shared;
}

#define JOINED(FIRST, SECOND) FIRST##SECOND
#define PASTED(FIRST, SECOND) JOINED(FIRST, SECOND)
#define KERNEL(SUFFIX) PASTED(ENTRY, SUFFIX)

#define REMAP(NAME)                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(REMAP_THREADS, 1) NAME(const int *ids, int *route_rows, int *offsets, int layer)       \
    {                                                                                                                                   \
        begin();                                                                                                                        \
        remap(ids + layer * ROUTES, route_rows + layer * ROUTES, offsets + layer * (LOCAL_EXPERTS + 1));                                \
    }

#define GATHER(NAME)                                                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                            \
        NAME(const unsigned short *rows, const int *route_rows, const float *weights, unsigned short *routed, int layer)                \
    {                                                                                                                                   \
        begin();                                                                                                                        \
        place here;                                                                                                                     \
        store(routed + here.offset(), gathered(rows, route_rows + layer * ROUTES, weights + layer * ROUTES, here));                     \
    }

#define ADD(NAME)                                                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                            \
        NAME(const unsigned short *routed, const unsigned short *shared, unsigned short *hidden, int layer)                             \
    {                                                                                                                                   \
        begin();                                                                                                                        \
        place here;                                                                                                                     \
        values sum = load(routed + here.offset()), row = load(shared_row(shared, hidden, layer) + here.offset());                       \
        store(hidden + layer * TOKENS * HIDDEN + here.offset(), plus(sum, row));                                                        \
    }

#define FUSED(NAME)                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                            \
        NAME(const unsigned short *rows, const int *route_rows, const float *weights, const unsigned short *shared, unsigned short *hidden, \
             int layer)                                                                                                                 \
    {                                                                                                                                   \
        begin();                                                                                                                        \
        place here;                                                                                                                     \
        values row = load(shared_row(shared, hidden, layer) + here.offset());                                                           \
        values sum = gathered(rows, route_rows + layer * ROUTES, weights + layer * ROUTES, here);                                       \
        store(hidden + layer * TOKENS * HIDDEN + here.offset(), plus(sum, row));                                                        \
    }
