// Router of one layer for two decode tokens: the six largest of 256 logits and their weights; and, where EMITTER says so, a table of the distinct
// experts, made by a warp of its own while the tokens' warps work out their weights. README.md has the contract.

#pragma once

#define NO_TABLE 0
#define SHELL 1
#define SERIAL 2
#define TWELVE_LANES 3
#define LOCAL_STAGING 4
#define STAGING_BALLOT 5

#ifndef EMITTER
#define EMITTER NO_TABLE
#endif

constexpr int TOKENS = 2, SLOTS = 6, ROUTES = TOKENS * SLOTS, EXPERTS = 256;
constexpr int LANES = 32, PER_LANE = EXPERTS / LANES;
constexpr int THREADS = LANES * (EMITTER == NO_TABLE ? TOKENS : TOKENS + 1);
constexpr int NONE = -1;
constexpr bool STAGED = EMITTER == LOCAL_STAGING || EMITTER == STAGING_BALLOT;
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu, ROUTE_LANES = (1u << ROUTES) - 1, FIRST_TOKEN = (1u << SLOTS) - 1;

struct table {
    int *unique;          // [12] distinct experts in the order in which they are met, then -1
    int *masks;           // [12] bit t: token t chose it; then 0
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
        // The lane's own largest and its number, by a tree; then the warp's largest, then the lowest number that has it.
        unsigned best[PER_LANE], number[PER_LANE];
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
        unsigned at = __reduce_min_sync(EVERY_LANE, best[0] == most ? number[0] : EXPERTS);
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

template <int COUNT> static __device__ __forceinline__ int lanes_value(const int (&values)[COUNT], int lane)
{
    int own = values[0];
#pragma unroll
    for (int k = 1; k < COUNT; k++)
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
static __device__ __forceinline__ void emit_serially(const int (&expert)[ROUTES], const table &to)
{
    int place[ROUTES], met[ROUTES] = {}, count = 0;
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
            met[u] |= u == place[r] ? 1 << (r / SLOTS) : 0;
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

// What a lane knows of its route: who else has its expert, its place among the distinct ones, how many those are.
struct entry {
    int expert, leader, place, count;
    unsigned same;
};

static __device__ __forceinline__ unsigned same_as(const int (&expert)[ROUTES], int own)
{
    unsigned same = 0;
#pragma unroll
    for (int r = 0; r < ROUTES; r++)
        same |= expert[r] == own ? 1u << r : 0u;
    return same;
}

// Each lane finds by itself which routes are the first of their expert: 66 comparisons.
static __device__ __forceinline__ entry entry_alone(const int (&expert)[ROUTES], int lane)
{
    unsigned firsts = 0;
#pragma unroll
    for (int r = 0; r < ROUTES; r++) {
        bool first = true;
#pragma unroll
        for (int earlier = 0; earlier < r; earlier++)
            first &= expert[earlier] != expert[r];
        firsts |= first ? 1u << r : 0u;
    }
    int own = lanes_value(expert, lane);
    unsigned same = same_as(expert, own);
    int leader = __ffs(same) - 1;
    return {own, leader, __popc(firsts & ((1u << leader) - 1)), __popc(firsts), same};
}

// A ballot tells all lanes which routes are the first of their expert.
static __device__ __forceinline__ entry entry_by_ballot(const int (&expert)[ROUTES], int lane)
{
    int own = lanes_value(expert, lane);
    unsigned same = same_as(expert, own);
    int leader = __ffs(same) - 1;
    unsigned firsts = __ballot_sync(EVERY_LANE, leader == lane) & ROUTE_LANES;
    return {own, leader, __popc(firsts & ((1u << leader) - 1)), __popc(firsts), same};
}

static __device__ __forceinline__ void store_entry(const entry &mine, const table &to, int lane)
{
    if (lane >= ROUTES)
        return;
    to.slot_to_unique[lane] = mine.place;
    if (mine.leader == lane)
        to.unique[mine.place] = mine.expert, to.masks[mine.place] = (mine.same & FIRST_TOKEN ? 1 : 0) | (mine.same & ~FIRST_TOKEN ? 2 : 0);
    if (lane >= mine.count)
        to.unique[lane] = NONE, to.masks[lane] = 0;
    if (lane == 0)
        *to.count = mine.count;
}

static __device__ __forceinline__ void emit(const int *routes, const table &to, int lane)
{
    if (EMITTER == SHELL)
        return;
    int expert[ROUTES];
    if (EMITTER == SERIAL && lane > 0)
        return;
    load_routes(routes, expert);
    if (EMITTER == SERIAL)
        emit_serially(expert, to);
    else
        store_entry(EMITTER == STAGING_BALLOT ? entry_by_ballot(expert, lane) : entry_alone(expert, lane), to, lane);
}

static __device__ __forceinline__ void route(const float *logits, float *weights, int *ids, const table &to)
{
    __shared__ __align__(16) int staged[ROUTES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    // The third warp chooses as well, for the second token: a branch around it, which the compiler cannot know to be a whole warp's, costs more.
    int token = warp < TOKENS ? warp : TOKENS - 1, expert[SLOTS], slot = token * SLOTS + lane;
    float chosen[SLOTS];
    choose(logits + token * EXPERTS, lane, expert, chosen);
    int own = lanes_value(expert, lane);
    bool mine = warp < TOKENS && lane < SLOTS;
    if (mine) {
        if (STAGED)
            staged[slot] = own;
        ids[slot] = own;
    }
    if (EMITTER != NO_TABLE)
        __syncthreads();
    if (mine)
        weights[slot] = weight_of(chosen, lane);
    if (EMITTER != NO_TABLE && warp == TOKENS)
        emit(STAGED ? staged : ids, to, lane);
}

#define ROUTER(NAME)                                                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                              \
        NAME(const float *logits, float *weights, int *ids, int *unique, int *masks, int *slot_to_unique, int *count, int layer)          \
    {                                                                                                                                      \
        int at = layer * ROUTES;                                                                                                           \
        route(logits + layer * TOKENS * EXPERTS, weights + at, ids + at, table{unique + at, masks + at, slot_to_unique + at, count + layer}); \
    }
