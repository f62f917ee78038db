// Down projection of two tokens over selected Q6_K experts: a warp for each tile of 16 rows of an expert. README.md tells the design.
//
// An arm's macros PAIRED_HOIST, LANE_ZERO, BLOCK_ROUTING and SHARED_METADATA are 0 or 1. SLOT_GRID is 1 for the incumbent's launch: blocks along
// y for the slots, of which those exit whose expert an earlier slot names; else places are dealt to the warps of all blocks in turn.

#pragma once

#include "expert_decode.cuh"
#include "expert_routing.cuh"

#if SLOT_GRID
constexpr int WARPS = 8, BLOCKS_A_PROCESSOR = 2;
#else
constexpr int WARPS = 16, BLOCKS_A_PROCESSOR = 1;
#endif

// What a warp works on: its tile's number within the expert, and which place (or slot) of the routing that is of.
struct warp_share {
    int place, first_row;
};

static __device__ __forceinline__ warp_share share_of(int warp)
{
#if SLOT_GRID
    return {(int)blockIdx.y, ((int)blockIdx.x * WARPS + warp) * TILE_ROWS};
#else
    const int tile = warp * gridDim.x + blockIdx.x;  // neighbours on different multiprocessors
    return {tile / TILES, tile % TILES * TILE_ROWS};
#endif
}

// Row of a tile that a lane's quad has in a pass: rows 0-3 and 8-11, then 4-7 and 12-15, so that 32 lanes read 32 banks.
static __device__ __forceinline__ int row_of(int pass)
{
    const int quad = threadIdx.x % 32 / LANES_A_ROW;
    return (quad & 3) + 4 * pass + 2 * (quad & 4);
}

static __device__ __forceinline__ float quad_sum(float x)
{
#pragma unroll
    for (int step = 1; step < LANES_A_ROW; step *= 2)
#if LANE_ZERO
        x = __fadd_rn(x, __shfl_down_sync(EVERY_LANE, x, step, LANES_A_ROW));
#else
        x = __fadd_rn(x, __shfl_xor_sync(EVERY_LANE, x, step));
#endif
    return x;
}

// Every lane of a quad has its rows' sums and stores one of them; or the first lane alone has them, and stores all.
template <int TOKENS>
static __device__ __forceinline__ void store(float *y, const float (&sums)[PASSES][TOKENS], const int (&slots)[TOKENS])
{
    const int q = threadIdx.x % LANES_A_ROW;
#if LANE_ZERO
    if (q != 0)
        return;
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            y[slots[t] * ROWS + row_of(pass)] = sums[pass][t];
#else
    static_assert(PASSES * TOKENS <= LANES_A_ROW, "a lane for each sum");
    float own = sums[0][0];
    int place = slots[0] * ROWS + row_of(0);
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            if (q == t * PASSES + pass) {
                own = sums[pass][t];
                place = slots[t] * ROWS + row_of(pass);
            }
    if (q < PASSES * TOKENS)
        y[place] = own;
#endif
}

template <int TOKENS>
static __device__ __forceinline__ void multiply(float *y, const unsigned char *tile, const block_x &x, const int (&slots)[TOKENS])
{
    const int q = threadIdx.x % LANES_A_ROW;
    float sums[PASSES][TOKENS] = {};
    const lane_x *own[TOKENS];
    lane_block block;
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        own[t] = &x.part[slots[t]][0][q];
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        load_block<0>(block, tile + row_of(pass) * ROW_BYTES, q);
        add_block<TOKENS>(sums[pass], block, own);
    }
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        own[t] = &x.part[slots[t]][1][q];
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        load_block<1>(block, tile + row_of(pass) * ROW_BYTES, q);
        add_block<TOKENS>(sums[pass], block, own);
    }
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++)
#pragma unroll
        for (int t = 0; t < TOKENS; t++)
            sums[pass][t] = quad_sum(sums[pass][t]);
    store<TOKENS>(y, sums, slots);
}

static __device__ __forceinline__ int take(unsigned &slots)
{
    const int slot = __ffs(slots) - 1;
    slots &= slots - 1;
    return slot;
}

// Every slot that named the tile's expert, one after the other or two at a time.
static __device__ __forceinline__ void multiply_slots(float *y, const unsigned char *tile, const block_x &x, unsigned slots)
{
    while (slots != 0) {
        const int first = take(slots);
#if PAIRED_HOIST
        if (slots != 0) {
            const int both[2] = {first, take(slots)};
            multiply<2>(y, tile, x, both);
            continue;
        }
#endif
        const int one[1] = {first};
        multiply<1>(y, tile, x, one);
    }
}

static __device__ __forceinline__ void project(const expert_task &task, unsigned char *tiles)
{
    __shared__ unsigned long long arrived[WARPS];
    __shared__ block_x x;
    const int warp = __shfl_sync(EVERY_LANE, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const warp_share share = share_of(warp);
    unsigned char *tile = tiles + warp * TILE_BYTES;
    // The IDs first: what they name is what everything waits for.
    const int id = BLOCK_ROUTING && warp > 0 ? -1 : own_id(task);
    int4 codes[SLOTS / WARPS];
    __half scales[SLOTS / WARPS];
#pragma unroll
    for (int k = 0; k < SLOTS / WARPS; k++) {
        const int slot = warp + k * WARPS;
        codes[k] = *(const int4 *)(task.x + slot * task.x_stride + 16 * lane);
        scales[k] = task.dx[slot * task.dx_stride + lane / 2];
    }
    if (lane == 0)
        initialise(arrived + warp);
#if BLOCK_ROUTING
    __shared__ expert_route routes[SLOTS];
    if (warp == 0)
        publish_routes(id, routes);
#else
    const expert_route route = SLOT_GRID ? route_of_slot(id, share.place) : route_at(id, share.place);
    if (SLOT_GRID && route.slots == 0)
        return;  // all warps of the block together
    if (lane == 0 && route.expert >= 0)
        copy_tile(tile, task.weights + (long long)route.expert * EXPERT_BYTES + share.first_row * ROW_BYTES, arrived + warp);
#endif
#pragma unroll
    for (int k = 0; k < SLOTS / WARPS; k++)
        stage_x(x, warp + k * WARPS, codes[k], scales[k]);
    __syncthreads();
#if BLOCK_ROUTING
    const expert_route route = share.place < SLOTS ? routes[share.place] : expert_route{-1, 0};
    if (lane == 0 && route.expert >= 0)
        copy_tile(tile, task.weights + (long long)route.expert * EXPERT_BYTES + share.first_row * ROW_BYTES, arrived + warp);
#endif
    if (route.slots == 0)
        return;
    float *y = task.y + share.first_row;
    if (route.expert < 0) {
        if (lane < TILE_ROWS)
            y[(__ffs(route.slots) - 1) * ROWS + lane] = 0;
        return;
    }
    wait_for(arrived + warp);
    multiply_slots(y, tile, x, route.slots);
}

// `step` says which selection a launch takes and where its outputs go.
#define EXPERT_DOWN(symbol)                                                                                                             \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS_A_PROCESSOR)                                                        \
        symbol(const unsigned char *weights, const int *ids, const signed char *x, const __half *dx, float *y, int ids_stride, int x_stride, \
               int dx_stride, long long step)                                                                                           \
    {                                                                                                                                   \
        extern __shared__ __align__(128) unsigned char tiles[];                                                                         \
        const expert_task task = {weights,    ids + step * 2 * ids_stride, x,        dx,                                                 \
                                  y + step * SLOTS * ROWS, ids_stride,     x_stride, dx_stride};                                        \
        project(task, tiles);                                                                                                           \
    }
