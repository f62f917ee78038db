// Sums and maxima over a warp and over a block; all threads get the result.
#pragma once

constexpr unsigned ALL = 0xFFFFFFFFu;

template <typename Value> static __device__ __forceinline__ Value warp_sum(Value value)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        value += __shfl_xor_sync(ALL, value, mask);
    return value;
}

static __device__ __forceinline__ float warp_max(float value)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL, value, mask));
    return value;
}

// `shared` holds a value a warp and is not read again before the next barrier.
template <int WARPS, typename Value> static __device__ __forceinline__ Value block_sum(Value value, Value *shared)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; warp++)
        value += shared[warp];
    return value;
}

template <int WARPS> static __device__ __forceinline__ float block_max(float value, float *shared)
{
    value = warp_max(value);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; warp++)
        value = fmaxf(value, shared[warp]);
    return value;
}

static __device__ __forceinline__ float sum_of(float4 value)
{
    return (value.x + value.y) + (value.z + value.w);
}

static __device__ __forceinline__ int sum_of(int4 value)
{
    return (value.x + value.y) + (value.z + value.w);
}
