// Router of one layer for two decode tokens: the six largest of 256 logits and their weights; and, where EMITTER says so, a table of the distinct
// experts. README.md has the contract.

#pragma once

#define NO_TABLE 0
#define SERIAL 1
#define TWELVE_LANES 2
#define LOCAL_STAGING 3
#define STAGING_BALLOT 4

#ifndef EMITTER
#define EMITTER NO_TABLE
#endif
#ifndef EMIT_WARP
#define EMIT_WARP 0
#endif
#ifndef ORDER
#define ORDER 0
#endif
#ifndef CHOICE
#define CHOICE 1
#endif
#ifndef SHELL
#define SHELL 0
#endif
#ifndef BLOCK_TOKENS
#define BLOCK_TOKENS 2  // a warp each
#endif

constexpr int TOKENS = 2, SLOTS = 6, ROUTES = TOKENS * SLOTS, EXPERTS = 256;
constexpr int LANES = 32, PER_LANE = EXPERTS / LANES;
constexpr int NONE = -1;
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu, ROUTE_LANES = (1u << ROUTES) - 1, FIRST_TOKEN = (1u << SLOTS) - 1;

struct table {
    int *unique;          // [12] distinct experts in the order in which they are met, then -1
    unsigned *masks;      // [12] bit t: token t chose it
    int *slot_to_unique;  // [2, 6]
    int *count;
};

// Order-preserving: a larger float is a larger word, and 0 is less than any.
static __device__ __forceinline__ unsigned key_of(float value)
{
    unsigned bits = __float_as_uint(value);
    return bits ^ ((int)bits < 0 ? 0xFFFFFFFFu : 0x80000000u);
}

static __device__ __forceinline__ float value_of(unsigned key)
{
    return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// The six largest of a token's logits, the lower number first among equals; all lanes have all six.
static __device__ __forceinline__ void choose(const float *logits, int lane, int (&expert)[SLOTS], float (&chosen)[SLOTS])
{
    unsigned key[PER_LANE];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float4 four = __ldcg((const float4 *)logits + 2 * lane + half);
        key[4 * half] = key_of(four.x), key[4 * half + 1] = key_of(four.y), key[4 * half + 2] = key_of(four.z), key[4 * half + 3] = key_of(four.w);
    }
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
#if CHOICE == 0
        unsigned most = key[0];
#pragma unroll
        for (int i = 1; i < PER_LANE; i++)
            most = max(most, key[i]);
        most = __reduce_max_sync(EVERY_LANE, most);
        int at = EXPERTS;
#pragma unroll
        for (int i = PER_LANE - 1; i >= 0; i--)
            at = key[i] == most ? lane * PER_LANE + i : at;
        unsigned having = __ballot_sync(EVERY_LANE, at < EXPERTS);
        at = __shfl_sync(EVERY_LANE, at, __ffs(having) - 1);
#else
        // The lane's own largest and its number, by a tree; then the warp's largest, then the lowest number that has it.
        unsigned best[PER_LANE];
        int number[PER_LANE];
#pragma unroll
        for (int i = 0; i < PER_LANE; i++)
            best[i] = key[i], number[i] = lane * PER_LANE + i;
#pragma unroll
        for (int width = PER_LANE / 2; width > 0; width /= 2)
#pragma unroll
            for (int i = 0; i < width; i++) {
                bool first = best[2 * i] >= best[2 * i + 1];
                best[i] = first ? best[2 * i] : best[2 * i + 1];
                number[i] = first ? number[2 * i] : number[2 * i + 1];
            }
        unsigned most = __reduce_max_sync(EVERY_LANE, best[0]);
        int at = __reduce_min_sync(EVERY_LANE, best[0] == most ? (unsigned)number[0] : EXPERTS);
#endif
#pragma unroll
        for (int i = 0; i < PER_LANE; i++)
            key[i] = at == lane * PER_LANE + i ? 0 : key[i];
        expert[k] = at;
        chosen[k] = value_of(most);
    }
}

// Softmax over the six: lane k's weight.
static __device__ __forceinline__ float weight_of(const float (&chosen)[SLOTS], int lane)
{
    float sum = 0, own = 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        float power = __expf(chosen[k] - chosen[0]);
        sum += power;
        own = k == lane ? power : own;
    }
    return __fdividef(own, sum);
}

static __device__ __forceinline__ int lanes_value(const int (&values)[SLOTS], int lane)
{
    int own = values[0];
#pragma unroll
    for (int k = 1; k < SLOTS; k++)
        own = k == lane ? values[k] : own;
    return own;
}

static __device__ __forceinline__ void load_routes(const int *from, int (&expert)[ROUTES])
{
#pragma unroll
    for (int quad = 0; quad < ROUTES / 4; quad++) {
        int4 four = ((const int4 *)from)[quad];
        expert[4 * quad] = four.x, expert[4 * quad + 1] = four.y, expert[4 * quad + 2] = four.z, expert[4 * quad + 3] = four.w;
    }
}

// One thread, route after route.
static __device__ __forceinline__ void emit_serially(const int *ids, const table &to)
{
    int expert[ROUTES], place[ROUTES], count = 0;
    unsigned met[ROUTES] = {};
    load_routes(ids, expert);
#pragma unroll
    for (int r = 0; r < ROUTES; r++) {
        place[r] = count;
#pragma unroll
        for (int earlier = r - 1; earlier >= 0; earlier--)
            place[r] = expert[earlier] == expert[r] ? place[earlier] : place[r];
        if (place[r] == count)
            to.unique[count++] = expert[r];
#pragma unroll
        for (int u = 0; u <= r; u++)
            met[u] |= u == place[r] ? 1u << (r / SLOTS) : 0u;
        to.slot_to_unique[r] = place[r];
    }
#pragma unroll
    for (int u = 0; u < ROUTES; u++) {
        to.masks[u] = met[u];
        if (u >= count)
            to.unique[u] = NONE;
    }
    *to.count = count;
}

// Twelve lanes, a route and an entry each; every lane sees all routes.
static __device__ __forceinline__ void emit_by_lanes(const int *ids, const table &to, int lane)
{
    int expert[ROUTES], own = NONE, first_place = 0, count = 0;
    unsigned mask = 0, before = 0;
    load_routes(ids, expert);
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        own = r == lane ? expert[r] : own;
#pragma unroll
    for (int r = ROUTES - 1; r >= 0; r--) {
        bool same = expert[r] == own;
        first_place = same ? r : first_place;
        mask |= same ? 1u << (r / SLOTS) : 0u;
    }
#pragma unroll
    for (int r = 0; r < ROUTES; r++) {
        bool first = true;
#pragma unroll
        for (int earlier = 0; earlier < r; earlier++)
            first &= expert[earlier] != expert[r];
        before += first && r < first_place;
        count += first;
    }
    if (lane < ROUTES) {
        to.slot_to_unique[lane] = before;
        if (first_place == lane)
            to.unique[before] = own, to.masks[before] = mask;
        if (lane >= count)
            to.unique[lane] = NONE, to.masks[lane] = 0;
        if (lane == 0)
            *to.count = count;
    }
}

// Twelve lanes, a route each; each compares its own with all, and a ballot tells who is first.
static __device__ __forceinline__ void emit_by_compare(const int *staged, const table &to, int lane)
{
    int expert[ROUTES], own = NONE;
    load_routes(staged, expert);
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        own = r == lane ? expert[r] : own;
    unsigned same = 0;
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        same |= expert[r] == own ? 1u << r : 0u;
    int leader = __ffs(same) - 1;
    unsigned firsts = __ballot_sync(EVERY_LANE, leader == lane) & ROUTE_LANES;
    int place = __popc(firsts & ((1u << leader) - 1)), count = __popc(firsts);
    if (lane < ROUTES) {
        to.slot_to_unique[lane] = place;
        if (leader == lane)
            to.unique[place] = own, to.masks[place] = (same & FIRST_TOKEN ? 1u : 0u) | (same & ~FIRST_TOKEN ? 2u : 0u);
        if (lane >= count)
            to.unique[lane] = NONE, to.masks[lane] = 0;
        if (lane == 0)
            *to.count = count;
    }
}

// Twelve lanes, a route each; who has the same expert, and who is first, by match and ballot.
static __device__ __forceinline__ void emit_by_ballot(const int *staged, const table &to, int lane)
{
    if (lane >= ROUTES)
        return;
    int own = staged[lane];
    unsigned same = __match_any_sync(ROUTE_LANES, own);
    int leader = __ffs(same) - 1;
    unsigned firsts = __ballot_sync(ROUTE_LANES, leader == lane);
    int place = __popc(firsts & ((1u << leader) - 1)), count = __popc(firsts);
    to.slot_to_unique[lane] = place;
    if (leader == lane)
        to.unique[place] = own, to.masks[place] = (same & FIRST_TOKEN ? 1u : 0u) | (same & ~FIRST_TOKEN ? 2u : 0u);
    if (lane >= count)
        to.unique[lane] = NONE, to.masks[lane] = 0;
    if (lane == 0)
        *to.count = count;
}

static __device__ __forceinline__ void emit(const int *ids, const int *staged, const table &to, int lane)
{
#if EMITTER == SERIAL
    if (lane == 0)
        emit_serially(ids, to);
#elif EMITTER == TWELVE_LANES
    emit_by_lanes(ids, to, lane);
#elif EMITTER == LOCAL_STAGING
    emit_by_lanes(staged, to, lane);
#elif EMITTER == STAGING_BALLOT
    emit_by_ballot(staged, to, lane);
#elif EMITTER == 5
    emit_by_compare(staged, to, lane);
#endif
}

static __device__ __forceinline__ void route(const float *logits, float *weights, int *ids, const table &to)
{
    __shared__ __align__(16) int staged[ROUTES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, token = blockIdx.x * BLOCK_TOKENS + warp;
    if (warp < BLOCK_TOKENS) {
        int expert[SLOTS];
        float chosen[SLOTS];
        choose(logits + token * EXPERTS, lane, expert, chosen);
        int own = lanes_value(expert, lane);
#if EMITTER >= LOCAL_STAGING
        if (lane < SLOTS)
            staged[token * SLOTS + lane] = own;
#endif
        if (lane < SLOTS)
            ids[token * SLOTS + lane] = own;
#if SHELL || EMITTER != NO_TABLE
        __syncthreads();
#endif
#if EMIT_WARP == 0 && ORDER == 1
        if (warp == 0)
            emit(ids, staged, to, lane);
#endif
        if (lane < SLOTS)
            weights[token * SLOTS + lane] = weight_of(chosen, lane);
#if EMIT_WARP == 0 && ORDER == 0
        if (warp == 0)
            emit(ids, staged, to, lane);
#endif
    }
#if EMIT_WARP == 2
    else {
        __syncthreads();
        emit(ids, staged, to, lane);
    }
#endif
}

#define ROUTER(NAME)                                                                                                                       \
    extern "C" __global__ void __launch_bounds__(LANES * (BLOCK_TOKENS + (EMIT_WARP == 2)), 1)                                                                 \
        NAME(const float *logits, float *weights, int *ids, int *unique, unsigned *masks, int *slot_to_unique, int *count, int layer)     \
    {                                                                                                                                      \
        int at = layer * ROUTES;                                                                                                           \
        route(logits + layer * TOKENS * EXPERTS, weights + at, ids + at, table{unique + at, masks + at, slot_to_unique + at, count + layer}); \
    }
