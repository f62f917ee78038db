// Kernels that belong to no arm: checksums where the buffers lie, and work that wakes the clock.

typedef unsigned long long word;

static __device__ __forceinline__ word mix(word x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Two sums of 64 bits over a buffer's words, each mixed with its place; the mixing is a bijection, so one changed word always shows.
extern "C" __global__ void __launch_bounds__(256) reportgen_checksum(const unsigned char *bytes, word size, word *sums)
{
    word one = 0, two = 0, words = size / 8, step = (word)gridDim.x * blockDim.x;
    for (word i = (word)blockIdx.x * blockDim.x + threadIdx.x; i <= words; i += step) {
        word value = 0;
        if (i < words)
            value = ((const word *)bytes)[i];
        else
            for (word at = words * 8; at < size; at++)
                value |= (word)bytes[at] << (8 * (at - words * 8));
        one += mix(value ^ mix(i + 0x9E3779B97F4A7C15ull));
        two += mix(value + mix(i ^ 0xD1B54A32D192ED03ull));
    }
    for (int lane = 16; lane > 0; lane /= 2) {
        one += __shfl_down_sync(0xFFFFFFFFu, one, lane);
        two += __shfl_down_sync(0xFFFFFFFFu, two, lane);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums, one);
        atomicAdd(sums + 1, two);
    }
}

static __device__ __forceinline__ long long now_ns()
{
    long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// Dependent arithmetic on every multiprocessor: cycles and nanoseconds of the first thread for `rounds` of it. Both are counted on one
// multiprocessor, since others may hold two blocks and take longer.
extern "C" __global__ void __launch_bounds__(256) reportgen_spin(long long rounds, long long *counted, float *sink)
{
    long long began_ns = now_ns(), began = clock64();
    float value = (float)threadIdx.x;
    for (long long round = 0; round < rounds; round++)
        value = fmaf(value, 0.999f, 1.0f);
    long long took = clock64() - began, took_ns = now_ns() - began_ns;
    if (value < 0.0f)
        *sink = value;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counted[0] = took;
        counted[1] = took_ns;
    }
}
