// The end of a split, and the second kernel, which combines the splits; the same in all arms but for who computes a split's reciprocals.

#pragma once

#include "attention_tile.cuh"

static __device__ __forceinline__ int split_place(int split, int splits, int column)
{
    return (blockIdx.y * splits + split) * REAL_COLUMNS + column;
}

// The sums of the lane's columns over all rows of the block.
static __device__ __forceinline__ void block_sums(float (&total)[2], const running &state, const warp_place &at, shared_state &shared)
{
    __syncthreads();  // the last maxima have been read
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = state.sum[h];
        sum = __fadd_rn(sum, __shfl_xor_sync(EVERY_LANE, sum, 1));
        sum = __fadd_rn(sum, __shfl_xor_sync(EVERY_LANE, sum, 2));
        if (at.pair == 0)
            shared.exchange[at.group * 16 + at.column + 8 * h][at.share] = sum;
    }
    group_barrier(at.group);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        total[h] = 1e-30f;  // a split whose rows are all masked gives 0 and not NaN
#pragma unroll
        for (int s = 0; s < SHARE; s++)
            total[h] = __fadd_rn(total[h], shared.exchange[at.group * 16 + at.column + 8 * h][s]);
    }
}

// Normalise, and hand the columns that are no padding to the second kernel.
static __device__ __forceinline__ void
finish_split(const attention_task &task, float (&values)[WIDTH_TILES][4], const running &state, const warp_place &at, shared_state &shared)
{
    float total[2], inverse[2];
    block_sums(total, state, at, shared);
    of_both<RECIPROCAL_BROADCAST, reciprocal_fast>(inverse, total[0], total[1]);
    rescale(values, inverse);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        if (at.group * 2 + h >= task.queries)
            continue;
        const int place = split_place(blockIdx.x, gridDim.x, at.group * 16 + at.column + 8 * h);
        float *to = task.split_values + place * WIDTH + at.share * WARP_WIDTH + at.pair * 2;
#pragma unroll
        for (int i = 0; i < WIDTH_TILES; i++)
            __stcg((float2 *)(to + i * 8), make_float2(values[i][2 * h], values[i][2 * h + 1]));
        if (at.pair == 0 && at.share == 0)
            __stcg(task.split_logarithms + place, __fadd_rn(state.maximum[h], log2_fast(total[h])));
    }
}

static __device__ __forceinline__ float warp_maximum(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(EVERY_LANE, x, step));
    return x;
}

static __device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        x = __fadd_rn(x, __shfl_xor_sync(EVERY_LANE, x, step));
    return x;
}

static __device__ __forceinline__ void add_scaled(float4 &to, float factor, const float4 &from)
{
    to.x = __fmaf_rn(factor, from.x, to.x);
    to.y = __fmaf_rn(factor, from.y, to.y);
    to.z = __fmaf_rn(factor, from.z, to.z);
    to.w = __fmaf_rn(factor, from.w, to.w);
}

// A block for half a column's width, four values a lane, an eighth of the splits a warp.
static __device__ __forceinline__ void combine(const float4 *split_values, const float *split_logarithms, float4 *out, int splits, float4 (*sums)[32])
{
    constexpr int EACH = MOST_SPLITS / WARPS, FOURS = WIDTH / 4;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = blockIdx.x / 2, four = blockIdx.x % 2 * 32 + lane;
    float4 values[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        values[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (i * WARPS + warp < splits)
            values[i] = __ldcg(split_values + split_place(i * WARPS + warp, splits, column) * FOURS + four);
    }
    const float low = lane < splits ? __ldcg(split_logarithms + split_place(lane, splits, column)) : NO_MAXIMUM;
    const float high = lane + 32 < splits ? __ldcg(split_logarithms + split_place(lane + 32, splits, column)) : NO_MAXIMUM;
    __syncthreads();  // holds the loads together: the compiler would ask for each value when it is needed, one after the other
    const float most = warp_maximum(fmaxf(low, high));
    const float weights[2] = {exp2_fast(__fsub_rn(low, most)), exp2_fast(__fsub_rn(high, most))};
    float4 mean = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        add_scaled(mean, __shfl_sync(EVERY_LANE, weights[i * WARPS / 32], (i * WARPS + warp) % 32), values[i]);
    sums[warp][lane] = mean;
    __syncthreads();
    if (warp > 0)
        return;
    const float inverse = reciprocal_fast(warp_sum(__fadd_rn(weights[0], weights[1])));
#pragma unroll
    for (int w = 1; w < WARPS; w++)
        add_scaled(mean, 1.0f, sums[w][lane]);
    out[(column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP) * FOURS + four] =
        make_float4(mean.x * inverse, mean.y * inverse, mean.z * inverse, mean.w * inverse);
}
