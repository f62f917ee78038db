// From global to shared memory, 16 bytes at a time, by all threads.

#pragma once

#include "attention_common.cuh"

// Q of the KV head's query heads, and the mask of the block's rows.
static __device__ __forceinline__ void copy_queries(const attention_task &task, shared_state &shared)
{
    const int chunk = threadIdx.x % 32, first = blockIdx.x * task.tiles * TILE;
#pragma unroll
    for (int i = 0; i < REAL_COLUMNS / WARPS; i++) {
        const int column = i * WARPS + threadIdx.x / 32, row = column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP;
        if (column < task.queries * GROUP)
            copy_16(shared_place(shared.q) + column * ROW_STRIDE + chunk * 16, (const char *)task.q + row * ROW_BYTES + chunk * 16);
    }
    constexpr int CHUNKS = MOST_ROWS / 8;
    static_assert(MOST_QUERIES * CHUNKS == THREADS, "a chunk of the mask for each thread");
    const int query = threadIdx.x / CHUNKS, eighth = threadIdx.x % CHUNKS;
    if (task.mask != nullptr && query < task.queries && eighth < task.tiles * TILE / 8)
        copy_16(shared_place(shared.mask[query] + eighth * 8), task.mask + query * task.rows + first + eighth * 8);
    arrive_copied(&shared.full_q);
}

// A warp a row.
static __device__ __forceinline__ void copy_rows(const char *from, const unsigned char *to, unsigned long long *full)
{
    const int warp = threadIdx.x / 32, chunk = threadIdx.x % 32;
    from += warp * ROW_BYTES + chunk * 16;
    const unsigned place = shared_place(to) + warp * ROW_STRIDE + chunk * 16;
#pragma unroll
    for (int i = 0; i < TILE / WARPS; i++)
        copy_16(place + i * WARPS * ROW_STRIDE, from + i * WARPS * ROW_BYTES);
    arrive_copied(full);
}

// A tile of K and V to its stage, which nobody reads any longer.
static __device__ __forceinline__ void copy_tile(const attention_task &task, shared_state &shared, int tile)
{
    const int stage = tile % STAGES;
    const long long from = ((long long)blockIdx.y * task.rows + (blockIdx.x * task.tiles + tile) * TILE) * ROW_BYTES;
    copy_rows((const char *)task.k + from, shared.tiles[stage][0], &shared.full_k[stage]);
    copy_rows((const char *)task.v + from, shared.tiles[stage][1], &shared.full_v[stage]);
}
