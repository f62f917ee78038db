// From quarters of a block to a split, from the splits of a head to partitions and the output.

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

// Where a head's block `to` finds what `from` has for it: values, and maximum and sum.
static __device__ __forceinline__ unsigned *values_from(const attention_task &task, int to, int from)
{
    return task.mail + ((blockIdx.y * SPLITS + to) * SPLITS + from) * MOST_VALUES;
}

static __device__ __forceinline__ uint2 *scalars_from(const attention_task &task, int to, int from)
{
    return (uint2 *)(task.mail + KV_HEADS * SPLITS * SPLITS * MOST_VALUES) + (blockIdx.y * SPLITS + to) * SPLITS + from;
}

// A warp for a column: the quarters become one split's values, maximum and sum, which go to the blocks that finish them. USED columns
// of 128 values are shared by 16 blocks: block r finishes column r % USED, from value r / USED * 8 * USED on.
template <int USED> static __device__ __forceinline__ void post_split(const attention_task &task, const shared_state &shared, int column)
{
    constexpr int VALUES = 8 * USED, BLOCKS = SPLITS / USED;
    const int lane = threadIdx.x % 32, from = blockIdx.x, first = 4 * lane;
    float4 part[QUARTERS];
#pragma unroll
    for (int i = 0; i < QUARTERS; i++)
        part[i] = *(const float4 *)&shared.values[i][column][first];
    const float4 total = make_float4(__fadd_rn(__fadd_rn(part[0].x, part[1].x), __fadd_rn(part[2].x, part[3].x)),
                                     __fadd_rn(__fadd_rn(part[0].y, part[1].y), __fadd_rn(part[2].y, part[3].y)),
                                     __fadd_rn(__fadd_rn(part[0].z, part[1].z), __fadd_rn(part[2].z, part[3].z)),
                                     __fadd_rn(__fadd_rn(part[0].w, part[1].w), __fadd_rn(part[2].w, part[3].w)));
    post((float4 *)(values_from(task, column + USED * (first / VALUES), from) + first % VALUES), total);
    const float maximum = lane_maximum<1, 8>(shared.maxima[lane % WARPS][column]);
    const float sum = lane_sum<1, 8>(shared.sums[lane % WARPS][column]);
    const uint2 scalars = make_uint2(__float_as_uint(maximum), __float_as_uint(sum));
#if ROOT_REDUCTIONS
    if (lane == 0)
#pragma unroll
        for (int i = 0; i < BLOCKS; i++)
            post(scalars_from(task, column + USED * i, from), scalars);
#else
    if (lane < BLOCKS)
        post(scalars_from(task, column + USED * lane, from), scalars);
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

// Wait for what every block of the head has for this one, a lane EACH values and one of the scalars, and leave the places EMPTY.
template <int EACH> static __device__ __forceinline__ float2 collect(values_of<EACH> (&values)[SPLITS], const attention_task &task)
{
    const int lane = threadIdx.x % 32, to = blockIdx.x;
    uint2 *scalars = scalars_from(task, to, lane % SPLITS), own, pair[SPLITS];
    bool missing;
    do {
        own = peek(scalars);
        missing = own.x == EMPTY || own.y == EMPTY;
#pragma unroll
        for (int s = 0; s < SPLITS; s++) {
            // With one value a lane, two lanes look at a pair.
            pair[s] = peek((const uint2 *)values_from(task, to, s) + lane * EACH / 2);
            missing |= pair[s].x == EMPTY || pair[s].y == EMPTY;
        }
    } while (__any_sync(EVERY_LANE, missing));
    const uint2 nothing = make_uint2(EMPTY, EMPTY);
    if (lane < SPLITS)
        post(scalars, nothing);
#pragma unroll
    for (int s = 0; s < SPLITS; s++) {
        values[s].x[0] = __uint_as_float(EACH == 2 || lane % 2 == 0 ? pair[s].x : pair[s].y);
        values[s].x[EACH - 1] = EACH == 2 ? __uint_as_float(pair[s].y) : values[s].x[0];
        if (EACH == 2 || lane % 2 == 0)
            post((uint2 *)values_from(task, to, s) + lane * EACH / 2, nothing);
    }
    return make_float2(__uint_as_float(own.x), __uint_as_float(own.y));
}

// One warp of a block: splits become partitions, partitions the output, for the values that this block finishes.
template <int USED, int PARTITIONS> static __device__ __forceinline__ void merge_splits(const attention_task &task)
{
    constexpr int PLACES = SPLITS / PARTITIONS, VALUES = 8 * USED, EACH = VALUES / 32;
    const int lane = threadIdx.x % 32, block = blockIdx.x, column = block % USED, value = block / USED * VALUES + lane * EACH;
    const int row = column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP, rows = USED / GROUP * HEADS;
    values_of<EACH> values[SPLITS];
    const float2 own = collect<EACH>(values, task);
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
