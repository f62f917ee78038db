// Shapes, copies into shared memory, the place of a Q8_0 block's values, reductions.

#pragma once

#include <cuda_fp16.h>

constexpr int WIDTH = 128, Q8_BLOCKS = 4, ROW_BYTES = 136;
constexpr int MOST_COLUMNS = 8;  // query heads of a KV head, times queries
constexpr int KV_HEADS = 8, GROUP = 4, HEADS = KV_HEADS * GROUP;
constexpr int WARPS = 16, THREADS = 32 * WARPS, MOST_SPLITS = 16;
constexpr int TILE_ROWS = 32, TILE_BYTES = TILE_ROWS * ROW_BYTES, PASSES = 4;
constexpr int LANES_A_ROW = 4;                              // one Q8_0 block of a K row for each lane
constexpr int PASS_ROWS = 32 / LANES_A_ROW;                 // K rows that a warp multiplies at a time
constexpr int PADDED_SCORES = TILE_ROWS * 4 + PASSES * 8;   // four columns' scores, eight rows apart by 32 bytes more
constexpr int TICKET_WORDS = 32;                            // a line of the cache for each ticket: atomics on one line queue up
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
constexpr float SCORE_SCALE = 0.08838834764831845f * LOG2_E;  // 1 / sqrt(128), scores being powers of two
constexpr float NO_MAXIMUM = -1e30f;                          // finite, so that a row of -inf gives 0 and not NaN
constexpr float INTEGER_FLOAT = 12582912.0f;                  // 1.5 * 2^23: the bits of this float plus n are those of it + n
constexpr int INTEGER_BITS = 0x4B400000;

struct attention_task {
    const unsigned char *k, *v;
    const __half *q, *mask;
    float *out, *accumulated, *maxima, *sums;
    float4 *split_values;
    float2 *split_scalars;
    unsigned *tickets;
    int tiles, rows, queries, partitions;  // `tiles` of 32 rows for each block, at most one for each warp
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ unsigned shared_place(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void copy_tile(void *to, const unsigned char *from, unsigned long long *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_place(arrived)), "r"(TILE_BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)),
                 "l"(from), "r"(TILE_BYTES), "r"(shared_place(arrived))
                 : "memory");
}

static __device__ __forceinline__ void wait_for(unsigned long long *arrived)
{
    unsigned done;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_place(arrived))
                     : "memory");
    while (!done);
}

// Where a lane's values begin in the eight-byte words that it loads: those of block b lie 2 (b + 1) bytes further.
struct block_place {
    bool late;
    unsigned values, scale;
};

static __device__ __forceinline__ block_place place_of_block(int b)
{
    const unsigned values = b == 0 ? 0x5432u : b == 1 ? 0x7654u : b == 2 ? 0x1076u : 0x3210u;
    return {b >= 2, values, 0x1010u + 0x2222u * b};
}

// Four values, from three words of which the second is always among those needed.
static __device__ __forceinline__ unsigned aligned(const block_place &place, unsigned one, unsigned two, unsigned three)
{
    return __byte_perm(place.late ? three : one, two, place.values);
}

// Sum over the LANES lanes of a group: in every lane, or in the group's first.
template <int LANES> static __device__ __forceinline__ float group_sum(float x)
{
#pragma unroll
    for (int step = LANES == 32 ? 16 : 1; step > 0 && step < LANES; step = LANES == 32 ? step / 2 : step * 2)
#if ROOT_REDUCTIONS
        x = __fadd_rn(x, __shfl_down_sync(EVERY_LANE, x, step));
#else
        x = __fadd_rn(x, __shfl_xor_sync(EVERY_LANE, x, step));
#endif
    return x;
}

static __device__ __forceinline__ float warp_maximum(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(EVERY_LANE, x, step));
    return x;
}
