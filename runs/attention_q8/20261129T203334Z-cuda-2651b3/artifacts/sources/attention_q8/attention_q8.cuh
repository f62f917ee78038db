// Decode attention over K and V in Q8_0 blocks: 16 blocks for a KV head, each for a split of its rows. README.md tells the design.
//
// An arm's source defines ATTENTION_HALF, ROOT_REDUCTIONS and EXP_BROADCAST (0 or 1) before it includes this file.

#include "attention_merge.cuh"

template <int USED> static __device__ __forceinline__ void finish(const attention_task &task, const shared_state &shared, int warp)
{
    if (warp < USED)
        post_split<USED>(task, shared, warp);
    if (warp > 0)
        return;
    if (task.partitions == 1)
        merge_splits<USED, 1>(task);
    else
        merge_splits<USED, 4>(task);
}

template <int SLICES> static __device__ __forceinline__ void attend(const attention_task &task, unsigned char *rows)
{
    constexpr int TILE_ROWS = SLICES * SLICE_ROWS, TILE_BYTES = TILE_ROWS * ROW_BYTES;
    const int warp = __shfl_sync(EVERY_LANE, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const int tiles = task.rows / TILE_ROWS, used = task.queries * GROUP;
    shared_state &shared = *(shared_state *)(rows + 2 * task.rows * ROW_BYTES);
    unsigned char *k = rows + warp * TILE_BYTES, *v = rows + task.rows * ROW_BYTES;
    const long long all_rows = (long long)task.rows * SPLITS, first = (long long)blockIdx.x * task.rows + warp * TILE_ROWS;
    const long long from = (blockIdx.y * all_rows + first) * ROW_BYTES;
    const bool busy = warp < tiles;
    // The next launch may take the places that this one leaves. What nobody writes (K, V, the mask) is read before the last one has ended.
    asm volatile("griddepcontrol.launch_dependents;");
    // Few bytes first: behind the tiles they would come thousands of cycles later.
    unsigned mask[SLICES];
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        const __half *mine = task.mask + (lane % 4 / 2 < task.queries ? lane % 4 / 2 : 0) * all_rows + first + slice * SLICE_ROWS + lane / 4 * 2;
        mask[slice] = task.mask == nullptr || !busy ? 0 : *(const unsigned *)mine;
    }
    if (lane == 0) {
        start_barrier(&shared.arrived[warp]);
        start_barrier(&shared.arrived[WARPS + warp]);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (busy)
            copy_rows(k, task.k + from, TILE_BYTES, &shared.arrived[warp]);
    }
    asm volatile("griddepcontrol.wait;" ::: "memory");
    uint2 raw = make_uint2(0, 0);
    if (warp < used)
        raw = ((const uint2 *)task.q)[(warp / GROUP * HEADS + blockIdx.y * GROUP + warp % GROUP) * 32 + lane];
    if (warp < COLUMNS)
        quantise_q(raw, warp, shared);
    if (busy && lane == 0)
        copy_rows(v + warp * TILE_BYTES, task.v + from, TILE_BYTES, &shared.arrived[WARPS + warp]);
    __syncthreads();
    float scores[SLICES][4];
    if (busy) {
        wait_for(&shared.arrived[warp]);
        tile_scores<SLICES>(scores, k, shared);
#pragma unroll
        for (int slice = 0; slice < SLICES; slice++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float added = i < 2 ? __low2float(halves(mask[slice])) : __high2float(halves(mask[slice]));
                scores[slice][i] = __fmaf_rn(added, LOG2_E, scores[slice][i]);
            }
        tile_maxima<SLICES>(scores, shared.maxima[warp]);
    } else if (lane < COLUMNS) {
        shared.maxima[warp][lane] = NO_MAXIMUM;
        shared.sums[warp][lane] = 0.0f;
    }
    __syncthreads();
    if (busy)
        tile_weights<SLICES>(scores, block_maxima(shared, lane % 4), warp, shared);
    __syncthreads();
    const int quarter = warp / QUARTERS, b = warp % Q8_BLOCKS, each = tiles < QUARTERS ? 1 : tiles / QUARTERS;
    accumulators total = {};
    if (quarter * each < tiles)
#pragma unroll 1
        for (int tile = quarter * each; tile < (quarter + 1) * each; tile++) {
            wait_for(&shared.arrived[WARPS + tile]);
            tile_values<SLICES>(total, v + tile * TILE_BYTES, shared.weights[tile], b);
        }
    store_values(total, shared.values[quarter], b);
    __syncthreads();
    if (task.queries == 1)
        finish<4>(task, shared, warp);
    else
        finish<8>(task, shared, warp);
}

#define ATTENTION_Q8(symbol)                                                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                               \
        symbol(const unsigned char *k, const unsigned char *v, const __half *q, const __half *mask, float *out, float *accumulated,        \
               float *maxima, float *sums, unsigned *mail, int rows_a_block, int queries, int partitions)                                  \
    {                                                                                                                                      \
        extern __shared__ __align__(128) unsigned char rows[];                                                                             \
        const attention_task task = {k, v, q, mask, out, accumulated, maxima, sums, mail, rows_a_block, queries, partitions};              \
        if (rows_a_block > WARPS * SLICE_ROWS)                                                                                             \
            attend<2>(task, rows);                                                                                                         \
        else                                                                                                                               \
            attend<1>(task, rows);                                                                                                         \
    }
