// Decode attention over K and V in Q8_0 blocks, one block of threads for one KV head and one split of the rows. README.md tells the design.
//
// An arm's source defines ATTENTION_HALF, ROOT_REDUCTIONS and EXP_BROADCAST (0 or 1) before it includes this file.

#include "attention_merge.cuh"
#include "attention_tile.cuh"

template <int COLUMNS> struct shared_state {
    unsigned long long arrived[2 * WARPS];
    unsigned codes[COLUMNS * 32];
    float scales[COLUMNS * Q8_BLOCKS];
    float2 scalars[WARPS * COLUMNS];
    float4 weights[WARPS][COLUMNS / 4 * PADDED_SCORES / 4];
};
static_assert(sizeof(shared_state<MOST_COLUMNS>) <= 23 * 1024, "what experiment.py asks for beside the tiles");

template <int COLUMNS> static __device__ __forceinline__ void attend(const attention_task &task, unsigned char *tiles)
{
    const int warp = __shfl_sync(EVERY_LANE, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const int row = (blockIdx.x * task.tiles + warp) * TILE_ROWS + lane % LANES_A_ROW * PASS_ROWS + lane / LANES_A_ROW;
    shared_state<COLUMNS> &shared = *(shared_state<COLUMNS> *)(tiles + task.tiles * 2 * TILE_BYTES);
    unsigned char *k = tiles + warp * 2 * TILE_BYTES, *v = k + TILE_BYTES;
    const long long from = ((long long)blockIdx.y * task.rows + (blockIdx.x * task.tiles + warp) * TILE_ROWS) * ROW_BYTES;
    unsigned long long *arrived = &shared.arrived[2 * warp];
    const bool busy = warp < task.tiles;
    // Few bytes first: behind the tiles they would come thousands of cycles later, and every score waits for Q.
    uint2 raw = make_uint2(0, 0);
    if (warp < COLUMNS)
        raw = ((const uint2 *)task.q)[(warp / GROUP * HEADS + blockIdx.y * GROUP + warp % GROUP) * 32 + lane];
    __half mask[COLUMNS / GROUP];
#pragma unroll
    for (int query = 0; query < COLUMNS / GROUP; query++)
        mask[query] = task.mask == nullptr || !busy ? __half(0.0f) : task.mask[query * task.rows + row];
    if (busy && lane == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(arrived)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(arrived + 1)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        copy_tile(k, task.k + from, arrived);
        copy_tile(v, task.v + from, arrived + 1);
    }
    if (warp < COLUMNS)
        quantise_q(raw, warp, shared.codes, shared.scales);
    __syncthreads();
    if (busy) {
        float scores[COLUMNS];
        tile_state<COLUMNS> state;
        {
            lane_q<COLUMNS> q;
            load_q<COLUMNS>(q, shared.codes, shared.scales);
            wait_for(arrived);
            tile_scores<COLUMNS>(scores, q, k, (float *)shared.weights[warp]);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            scores[c] = __fmaf_rn(__half2float(mask[c / GROUP]), LOG2_E, scores[c]);
        tile_softmax<COLUMNS>(state, scores, shared.weights[warp]);
        wait_for(arrived + 1);
        tile_values<COLUMNS>(state, v, shared.weights[warp]);
        store_warp<COLUMNS>(state, (float4 *)k, shared.scalars + warp * COLUMNS);
    }
    __syncthreads();
    if (warp >= COLUMNS)
        return;
    merge_tiles<COLUMNS>(task, warp, tiles, shared.scalars);
    if (!last_of_column(task, warp))
        return;
    if (task.partitions == 1)
        merge_splits<COLUMNS, 1>(task, warp);
    else
        merge_splits<COLUMNS, 4>(task, warp);
}

#define ATTENTION_Q8(symbol)                                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                            \
        symbol(const unsigned char *k, const unsigned char *v, const __half *q, const __half *mask, float *out, float *accumulated,       \
               float *maxima, float *sums, float4 *split_values, float2 *split_scalars, unsigned *tickets, int tiles_a_block, int queries,        \
               int partitions)                                                                                                          \
    {                                                                                                                                   \
        extern __shared__ __align__(128) unsigned char tiles[];                                                                         \
        const attention_task task = {k,    v,            q,             mask,    out,  accumulated, maxima,                              \
                                     sums, split_values, split_scalars, tickets, tiles_a_block, tiles_a_block * TILE_ROWS * (int)gridDim.x, queries, partitions};                        \
        if (queries == 1)                                                                                                               \
            attend<4>(task, tiles);                                                                                                     \
        else                                                                                                                            \
            attend<8>(task, tiles);                                                                                                     \
    }
