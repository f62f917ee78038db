// RMS norm of a row of halves by one block of 256 threads: 16 bytes a load, the row kept in registers between its sum and its scaling.
#include <cuda_fp16.h>

constexpr int THREADS = 256;
constexpr int VECTOR = 8;            // halves in 16 bytes
constexpr int MOST_COLUMNS = 8192;   // four vectors a thread
constexpr int MOST_VECTORS = MOST_COLUMNS / (THREADS * VECTOR);

union Halves {
    uint4 words;
    __half2 pairs[VECTOR / 2];
};

static __device__ float block_sum(float value)
{
    __shared__ float sums[THREADS / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++)
        total += sums[warp];
    return total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
rms_cuda_rows(const uint4 *__restrict__ x, const uint4 *__restrict__ weight, uint4 *__restrict__ y, int columns)
{
    const int vectors = columns / VECTOR;
    const uint4 *row = x + (long long)blockIdx.x * vectors;
    Halves held[MOST_VECTORS];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST_VECTORS; i++) {
        const int place = threadIdx.x + i * THREADS;
        if (place < vectors) {
            held[i].words = row[place];
            for (int pair = 0; pair < VECTOR / 2; pair++) {
                const float2 both = __half22float2(held[i].pairs[pair]);
                sum += both.x * both.x + both.y * both.y;
            }
        }
    }
    const float scale = rsqrtf(block_sum(sum) / columns + 1e-6f);
#pragma unroll
    for (int i = 0; i < MOST_VECTORS; i++) {
        const int place = threadIdx.x + i * THREADS;
        if (place < vectors) {
            Halves weights, made;
            weights.words = weight[place];
            for (int pair = 0; pair < VECTOR / 2; pair++) {
                const float2 both = __half22float2(held[i].pairs[pair]), w = __half22float2(weights.pairs[pair]);
                made.pairs[pair] = __floats2half2_rn(both.x * scale * w.x, both.y * scale * w.y);
            }
            y[(long long)blockIdx.x * vectors + place] = made.words;
        }
    }
}
