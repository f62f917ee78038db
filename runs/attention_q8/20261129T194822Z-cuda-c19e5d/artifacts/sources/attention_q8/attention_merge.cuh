// From tiles to a split, from splits to partitions and the output.

#pragma once

#include "attention_common.cuh"

static __device__ __forceinline__ void add_scaled(float4 &to, float factor, const float4 &from)
{
    to.x = __fmaf_rn(factor, from.x, to.x);
    to.y = __fmaf_rn(factor, from.y, to.y);
    to.z = __fmaf_rn(factor, from.z, to.z);
    to.w = __fmaf_rn(factor, from.w, to.w);
}

// A warp for a column: the block's tiles become one split's values, maximum and sum.
template <int COLUMNS>
static __device__ __forceinline__ void merge_tiles(const attention_task &task, int column, const unsigned char *tiles, const float2 *scalars)
{
    const int lane = threadIdx.x % 32;
    const float2 own = lane % WARPS < task.tiles ? scalars[lane % WARPS * COLUMNS + column] : make_float2(NO_MAXIMUM, 0.0f);
    float4 values[WARPS];
#pragma unroll
    for (int t = 0; t < WARPS; t++) {
        values[t] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (t < task.tiles)
            values[t] = ((const float4 *)(tiles + t * 2 * TILE_BYTES))[column * 32 + lane];
    }
    const float maximum = warp_maximum(own.x);
#if EXP_BROADCAST
    const float mine = exp2_fast(__fsub_rn(own.x, maximum));
#endif
    float sum = 0.0f;
    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int t = 0; t < WARPS; t++) {
#if EXP_BROADCAST
        const float factor = __shfl_sync(EVERY_LANE, mine, t);
#else
        const float factor = exp2_fast(__fsub_rn(__shfl_sync(EVERY_LANE, own.x, t), maximum));
#endif
        sum = __fmaf_rn(factor, __shfl_sync(EVERY_LANE, own.y, t), sum);
        add_scaled(total, factor, values[t]);
    }
    const int place = (blockIdx.y * gridDim.x + blockIdx.x) * COLUMNS + column;
    __stcg(&task.split_values[place * 32 + lane], total);
    if (lane == 0)
        __stcg(&task.split_scalars[place], make_float2(maximum, sum));
}

// Whether this warp is the last to bring a split of its column: then it sees what all others wrote. The ticket starts again at 0.
static __device__ __forceinline__ bool last_of_column(const attention_task &task, int column)
{
    unsigned *tickets = task.tickets + (blockIdx.y * MOST_COLUMNS + column) * TICKET_WORDS, ticket = 0;
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(tickets) : "memory");
        if (ticket == gridDim.x - 1)
            *tickets = 0;
    }
    return __shfl_sync(EVERY_LANE, ticket, 0) == gridDim.x - 1;
}

// The last warp of a column, four values a lane: splits become partitions, partitions the output. There are
// 16 places for splits; those that stay empty count with a factor of 0.
template <int COLUMNS, int PARTITIONS> static __device__ __forceinline__ void merge_splits(const attention_task &task, int column)
{
    constexpr int PLACES = MOST_SPLITS / PARTITIONS;
    const int lane = threadIdx.x % 32, splits = gridDim.x, each = splits / PARTITIONS;
    const int row = column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP, rows = COLUMNS / GROUP * HEADS;
    const int first = blockIdx.y * splits * COLUMNS + column;
    const int value = lane % 16 * 2 + lane / 16;
    float2 own = make_float2(NO_MAXIMUM, 0.0f);
    if (lane % PLACES < each)
        own = __ldcg(&task.split_scalars[first + (lane % MOST_SPLITS / PLACES * each + lane % PLACES) * COLUMNS]);
    float4 values[MOST_SPLITS];
#pragma unroll
    for (int s = 0; s < MOST_SPLITS; s++) {
        values[s] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (s % PLACES < each)
            values[s] = __ldcg(&task.split_values[(first + (s / PLACES * each + s % PLACES) * COLUMNS) * 32 + lane]);
    }
    float of_partition = own.x;
#pragma unroll
    for (int step = 1; step < PLACES; step *= 2)
        of_partition = fmaxf(of_partition, __shfl_xor_sync(EVERY_LANE, of_partition, step));
    float largest = of_partition;
#pragma unroll
    for (int step = PLACES; step < MOST_SPLITS; step *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(EVERY_LANE, largest, step));
#if EXP_BROADCAST
    const float own_factor = exp2_fast(__fsub_rn(own.x, of_partition)), own_weight = exp2_fast(__fsub_rn(of_partition, largest));
#endif
    float all = 0.0f;
    float4 output = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int p = 0; p < PARTITIONS; p++) {
        const float maximum = __shfl_sync(EVERY_LANE, of_partition, p * PLACES);
        float sum = 0.0f;
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int s = p * PLACES; s < (p + 1) * PLACES; s++) {
#if EXP_BROADCAST
            const float factor = __shfl_sync(EVERY_LANE, own_factor, s);
#else
            const float factor = exp2_fast(__fsub_rn(__shfl_sync(EVERY_LANE, own.x, s), maximum));
#endif
            sum = __fmaf_rn(factor, __shfl_sync(EVERY_LANE, own.y, s), sum);
            add_scaled(total, factor, values[s]);
        }
        const int place = p * rows + row;
        if (PARTITIONS > 1)
            ((float4 *)task.accumulated)[place * 32 + value] = total;
        if (lane == 0) {
            task.maxima[place] = __fmul_rn(maximum, LN_2);
            task.sums[place] = sum;
        }
#if EXP_BROADCAST
        const float weight = __shfl_sync(EVERY_LANE, own_weight, p * PLACES);
#else
        const float weight = exp2_fast(__fsub_rn(maximum, largest));
#endif
        all = __fmaf_rn(weight, sum, all);
        add_scaled(output, weight, total);
    }
    const float inverse = __fdiv_rn(1.0f, all);
    ((float4 *)task.out)[row * 32 + value] =
        make_float4(output.x * inverse, output.y * inverse, output.z * inverse, output.w * inverse);
}
