// Operations of several steps: three dependent kernels, rows with exponentials and two reductions, one block alone.
#pragma once

// First of three: a sum a block.
KERNEL(multi_partials, 256)(const float4 *__restrict__ x, float *__restrict__ partials)
{
    __shared__ float shared[8];
    int j = blockIdx.x * 256 + threadIdx.x, n = gridDim.x * 256;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += sum_of(x[k * n + j]);
    sum = block_sum<8>(sum, shared);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum;
}

// Second: one block sums a partial a thread.
KERNEL(multi_combine, 512)(const float *__restrict__ partials, float *__restrict__ total)
{
    __shared__ float shared[16];
    float sum = block_sum<16>(partials[threadIdx.x], shared);
    if (threadIdx.x == 0)
        total[0] = sum;
}

// Third: the beginning of x times the sum.
KERNEL(multi_scale, 256)(const float4 *__restrict__ x, const float *__restrict__ total, float4 *__restrict__ y)
{
    int j = blockIdx.x * 256 + threadIdx.x;
    float4 value = x[j];
    float factor = total[0];
    y[j] = make_float4(value.x * factor, value.y * factor, value.z * factor, value.w * factor);
}

static __device__ __forceinline__ float power_of_two(float value)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
    return power;
}

// A block a row of 1,024 values.
KERNEL(softmax, 256)(const float4 *__restrict__ x, float4 *__restrict__ y)
{
    __shared__ float maxima[8], sums[8];
    constexpr float LOG2_E = 1.44269504f;
    int j = blockIdx.x * 256 + threadIdx.x;
    float4 value = x[j];
    float most = block_max<8>(fmaxf(fmaxf(value.x, value.y), fmaxf(value.z, value.w)), maxima);
    value.x = power_of_two((value.x - most) * LOG2_E);
    value.y = power_of_two((value.y - most) * LOG2_E);
    value.z = power_of_two((value.z - most) * LOG2_E);
    value.w = power_of_two((value.w - most) * LOG2_E);
    float inverse = 1.0f / block_sum<8>(sum_of(value), sums);
    y[j] = make_float4(value.x * inverse, value.y * inverse, value.z * inverse, value.w * inverse);
}

// One block: each thread's sum, and that of the thread at a distance which the block's sum tells, read again from memory: one way there and
// back after the other. It bears the arm's entry point itself.
extern "C" __global__ void __launch_bounds__(256) ENTRY(const int4 *__restrict__ x, int *__restrict__ y)
{
    __shared__ int shared[8];
    int own = sum_of(x[threadIdx.x]), far = block_sum<8>(own, shared);
    y[threadIdx.x] = own + sum_of(x[(threadIdx.x + far) & 255]);
}
