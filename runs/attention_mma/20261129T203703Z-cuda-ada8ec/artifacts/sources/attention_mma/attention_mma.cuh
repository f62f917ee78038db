// Decode attention over FP16 K and V on tensor cores, one block of threads for one KV head and one split of the rows. README.md tells the design.
//
// An arm's source defines COLUMNS (32 or 64), EXP_BROADCAST and RECIPROCAL_BROADCAST (0 or 1) before it includes this file.

#pragma once

#include "attention_split.cuh"

static __device__ __forceinline__ void prepare_barriers(shared_state &shared)
{
    if (threadIdx.x == 0) {
#pragma unroll
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&shared.full_k[s], THREADS);
            barrier_init(&shared.full_v[s], THREADS);
        }
        barrier_init(&shared.full_q, THREADS);
    }
    __syncthreads();
}

static __device__ __forceinline__ void attend(const attention_task &task, shared_state &shared)
{
    const int warp = __shfl_sync(EVERY_LANE, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const warp_place at = {lane, warp / SHARE, warp % SHARE, lane / 4, lane % 4};
    prepare_barriers(shared);
    copy_queries(task, shared);
#pragma unroll 1
    for (int tile = 0; tile < min(STAGES, task.tiles); tile++)
        copy_tile(task, shared, tile);
    running state = {{NO_MAXIMUM, NO_MAXIMUM}, {0.0f, 0.0f}};
    float values[WIDTH_TILES][4] = {};
    unsigned q[STEPS][4];
    wait_for(&shared.full_q, 0);
    load_q(q, at, shared, task.queries);
#pragma unroll 1
    for (int tile = 0; tile < task.tiles; tile++) {
        const int stage = tile % STAGES, parity = tile / STAGES % 2;
        float scores[ROW_TILES][4], most[2], factor[2];
        wait_for(&shared.full_k[stage], parity);
        tile_scores(scores, q, at, shared_place(shared.tiles[stage][0]));
        if (task.mask != nullptr)
            add_mask(scores, at, shared, task.queries, tile * TILE + at.share * WARP_ROWS);
        tile_maximum(most, state, scores, at, shared);
        if (tile > 0 && tile - 1 + STAGES < task.tiles)
            copy_tile(task, shared, tile - 1 + STAGES);
        tile_weights(state, factor, most, scores, at, shared);
        rescale(values, factor);
        wait_for(&shared.full_v[stage], parity);
        tile_values(values, at, shared, shared_place(shared.tiles[stage][1]));
    }
    finish_split(task, values, state, at, shared);
}

#define ATTENTION_MMA(symbol)                                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                              \
        symbol(const __half *k, const __half *v, const __half *q, const __half *mask, float *split_values, float *split_logarithms,       \
               int rows, int queries, int tiles)                                                                                         \
    {                                                                                                                                     \
        extern __shared__ __align__(16) unsigned char memory[];                                                                           \
        attend({k, v, q, mask, split_values, split_logarithms, rows, queries, tiles}, *(shared_state *)memory);                           \
    }                                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                              \
        symbol##_combine(const float4 *split_values, const float *split_logarithms, float4 *out, int splits)                              \
    {                                                                                                                                     \
        __shared__ float4 sums[WARPS][32];                                                                                                \
        combine(split_values, split_logarithms, out, splits, sums);                                                                       \
    }
