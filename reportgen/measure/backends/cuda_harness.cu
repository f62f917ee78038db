// Kernels that belong to no arm: what is done to many buffers at once where they lie, and work that wakes the clock.

typedef unsigned long long word;

static __device__ __forceinline__ word mix(word x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// A buffer; blockIdx.x says which of a table, blockIdx.y which part of it a block works on.
struct buffer {
    unsigned char *start;
    word size;
};

static __device__ __forceinline__ word first_word() { return (word)blockIdx.y * blockDim.x + threadIdx.x; }

static __device__ __forceinline__ word step() { return (word)gridDim.y * blockDim.x; }

// Word `i` of a buffer, whose last one may be cut short and counts as ended by zeros.
static __device__ __forceinline__ word read_word(const unsigned char *start, word size, word i)
{
    if (i < size / 8)
        return ((const word *)start)[i];
    word value = 0;
    for (word at = i * 8; at < size; at++)
        value |= (word)start[at] << (8 * (at - i * 8));
    return value;
}

static __device__ __forceinline__ void write_word(unsigned char *start, word size, word i, word value)
{
    if (i < size / 8)
        ((word *)start)[i] = value;
    else
        for (word at = i * 8; at < size; at++)
            start[at] = (unsigned char)(value >> (8 * (at - i * 8)));
}

extern "C" __global__ void __launch_bounds__(256) reportgen_fill(const buffer *buffers, word pattern)
{
    buffer one = buffers[blockIdx.x];
    for (word i = first_word(); i <= one.size / 8; i += step())
        write_word(one.start, one.size, i, pattern);
}

extern "C" __global__ void __launch_bounds__(256) reportgen_copy(const buffer *buffers, const unsigned char *source)
{
    buffer one = buffers[blockIdx.x];
    for (word i = first_word(); i <= one.size / 8; i += step())
        write_word(one.start, one.size, i, read_word(source, one.size, i));
}

// Two sums of 64 bits over a buffer's words, each mixed with its place; the mixing is a bijection, so one changed word always shows.
extern "C" __global__ void __launch_bounds__(256) reportgen_checksums(const buffer *buffers, word *sums)
{
    buffer it = buffers[blockIdx.x];
    word one = 0, two = 0;
    for (word i = first_word(); i <= it.size / 8; i += step()) {
        word value = read_word(it.start, it.size, i);
        one += mix(value ^ (i + 1) * 0x9E3779B97F4A7C15ull);
        two += mix(value + (i + 1) * 0xD1B54A32D192ED03ull);
    }
    for (int lane = 16; lane > 0; lane /= 2) {
        one += __shfl_down_sync(0xFFFFFFFFu, one, lane);
        two += __shfl_down_sync(0xFFFFFFFFu, two, lane);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums + 2 * blockIdx.x, one);
        atomicAdd(sums + 2 * blockIdx.x + 1, two);
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
