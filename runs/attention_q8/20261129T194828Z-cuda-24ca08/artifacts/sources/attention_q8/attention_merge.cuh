// From quarters of a block to a split, from the splits of a cluster to partitions and the output.

#pragma once

#include "attention_tile.cuh"

// Two columns' maxima over the block.
static __device__ __forceinline__ float2 block_maxima(const shared_state &shared, int t)
{
    float2 most = make_float2(NO_MAXIMUM, NO_MAXIMUM);
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        const float2 one = *(const float2 *)&shared.maxima[w][2 * t];
        most.x = fmaxf(most.x, one.x);
        most.y = fmaxf(most.y, one.y);
    }
    return most;
}

// A warp for a column: the quarters become one split's values, maximum and sum, which go to the blocks that finish them. USED columns
// of 128 values are shared by 16 blocks: block r finishes column r % USED, from value r / USED * 8 * USED on.
template <int USED> static __device__ __forceinline__ void hand_split(shared_state &shared, int column)
{
    constexpr int VALUES = 8 * USED, BLOCKS = SPLITS / USED;
    const int lane = threadIdx.x % 32, from = blockIdx.x;
    const unsigned complete = shared_place(&shared.complete);
    float4 part[QUARTERS];
#pragma unroll
    for (int i = 0; i < QUARTERS; i++)
        part[i] = *(const float4 *)&shared.values[i][column][4 * lane];
    const float4 total = make_float4(__fadd_rn(__fadd_rn(part[0].x, part[1].x), __fadd_rn(part[2].x, part[3].x)),
                                     __fadd_rn(__fadd_rn(part[0].y, part[1].y), __fadd_rn(part[2].y, part[3].y)),
                                     __fadd_rn(__fadd_rn(part[0].z, part[1].z), __fadd_rn(part[2].z, part[3].z)),
                                     __fadd_rn(__fadd_rn(part[0].w, part[1].w), __fadd_rn(part[2].w, part[3].w)));
    const int block = column + USED * (4 * lane / VALUES);
    hand_over(place_in(shared_place(&shared.gathered[from * VALUES + 4 * lane % VALUES]), block), total, place_in(complete, block));
    const float maximum = lane_maximum<1, 8>(shared.maxima[lane % WARPS][column]);
    const float sum = lane_sum<1, 8>(shared.sums[lane % WARPS][column]);
#if ROOT_REDUCTIONS
    if (lane == 0)
#pragma unroll
        for (int i = 0; i < BLOCKS; i++)
            hand_over(place_in(shared_place(&shared.scalars[from]), column + USED * i), make_float2(maximum, sum),
                      place_in(complete, column + USED * i));
#else
    if (lane < BLOCKS)
        hand_over(place_in(shared_place(&shared.scalars[from]), column + USED * lane), make_float2(maximum, sum),
                  place_in(complete, column + USED * lane));
#endif
}

template <int EACH> struct values_of {
    float x[EACH];
};

template <int EACH> static __device__ __forceinline__ void store(float *to, const values_of<EACH> &from)
{
    if (EACH == 2)
        *(float2 *)to = make_float2(from.x[0], from.x[EACH - 1]);
    else
        *to = from.x[0];
}

// One warp of a block: splits become partitions, partitions the output, for the values that this block finishes.
template <int USED, int PARTITIONS> static __device__ __forceinline__ void merge_splits(const attention_task &task, const shared_state &shared)
{
    constexpr int PLACES = SPLITS / PARTITIONS, VALUES = 8 * USED, EACH = VALUES / 32;
    const int lane = threadIdx.x % 32, block = blockIdx.x, column = block % USED, value = block / USED * VALUES + lane * EACH;
    const int row = column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP, rows = USED / GROUP * HEADS;
    const float2 own = shared.scalars[lane % SPLITS];
    values_of<EACH> values[SPLITS];
#pragma unroll
    for (int s = 0; s < SPLITS; s++)
#pragma unroll
        for (int i = 0; i < EACH; i++)
            values[s].x[i] = shared.gathered[s * VALUES + lane * EACH + i];
    float of_partition = own.x;
#pragma unroll
    for (int step = 1; step < PLACES; step *= 2)
        of_partition = fmaxf(of_partition, __shfl_xor_sync(EVERY_LANE, of_partition, step));
    float largest = of_partition;
#pragma unroll
    for (int step = PLACES; step < SPLITS; step *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(EVERY_LANE, largest, step));
#if EXP_BROADCAST
    const float own_factor = exp2_fast(__fsub_rn(own.x, of_partition)), own_weight = exp2_fast(__fsub_rn(of_partition, largest));
#endif
    float all = 0.0f;
    values_of<EACH> output = {};
#pragma unroll
    for (int p = 0; p < PARTITIONS; p++) {
        const float maximum = __shfl_sync(EVERY_LANE, of_partition, p * PLACES);
        float sum = 0.0f;
        values_of<EACH> total = {};
#pragma unroll
        for (int s = p * PLACES; s < (p + 1) * PLACES; s++) {
#if EXP_BROADCAST
            const float factor = __shfl_sync(EVERY_LANE, own_factor, s);
#else
            const float factor = exp2_fast(__fsub_rn(__shfl_sync(EVERY_LANE, own.x, s), maximum));
#endif
            sum = __fmaf_rn(factor, __shfl_sync(EVERY_LANE, own.y, s), sum);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                total.x[i] = __fmaf_rn(factor, values[s].x[i], total.x[i]);
        }
        const int place = p * rows + row;
        if (PARTITIONS > 1)
            store<EACH>(task.accumulated + (long long)place * WIDTH + value, total);
        if (block < USED && lane == 0) {
            task.maxima[place] = __fmul_rn(maximum, LN_2);
            task.sums[place] = sum;
        }
#if EXP_BROADCAST
        const float weight = __shfl_sync(EVERY_LANE, own_weight, p * PLACES);
#else
        const float weight = exp2_fast(__fsub_rn(maximum, largest));
#endif
        all = __fmaf_rn(weight, sum, all);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            output.x[i] = __fmaf_rn(weight, total.x[i], output.x[i]);
    }
    const float inverse = __fdiv_rn(1.0f, all);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        output.x[i] = __fmul_rn(output.x[i], inverse);
    store<EACH>(task.out + (long long)row * WIDTH + value, output);
}
