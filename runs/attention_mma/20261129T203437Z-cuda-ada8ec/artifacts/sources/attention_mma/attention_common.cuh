// Shapes, places in shared memory, copies and matrix instructions.

#pragma once

#include <cuda_fp16.h>

constexpr int WIDTH = 256, ROW_BYTES = 2 * WIDTH, KV_HEADS = 2, GROUP = 8, HEADS = KV_HEADS * GROUP;
constexpr int MOST_QUERIES = 4, REAL_COLUMNS = MOST_QUERIES * GROUP;  // columns beyond are padding of the schedule
constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int SHARE = WARPS * 16 / COLUMNS;                           // warps that share a group of 16 columns
constexpr int TILE = 32, STAGES = 3, MOST_ROWS = 512, MOST_SPLITS = 64;  // rows of a tile, tiles in flight, rows of a block
constexpr int WARP_ROWS = TILE / SHARE, ROW_TILES = WARP_ROWS / 8;    // of a tile's rows, the warp's part in the scores
constexpr int WARP_WIDTH = WIDTH / SHARE, WIDTH_TILES = WARP_WIDTH / 8;  // of the width, the warp's part in the output
constexpr int STEPS = WIDTH / 16;                                     // matrix instructions along the width
constexpr int ROW_STRIDE = ROW_BYTES + 16, WEIGHT_STRIDE = 2 * TILE + 16;  // 16 bytes more: ldmatrix meets no bank conflict
constexpr int TILE_BYTES = TILE * ROW_STRIDE;
constexpr float LOG2_E = 1.4426950408889634f, SCORE_SCALE = LOG2_E / 16.0f;  // 1 / sqrt(256), scores being powers of two
constexpr float NO_MAXIMUM = -1e30f;                                  // finite, so that a row of -inf gives 0 and not NaN
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;

struct attention_task {
    const __half *k, *v, *q, *mask;
    float *split_values, *split_logarithms;  // of each split: its normalised output, the logarithm of its sum of exponentials
    int rows, queries, tiles;                // `tiles` of a block
};

struct shared_state {
    unsigned long long full_k[STAGES], full_v[STAGES], full_q;
    __align__(16) unsigned char tiles[STAGES][2][TILE_BYTES];  // of K and of V
    __align__(16) unsigned char q[REAL_COLUMNS * ROW_STRIDE];
    __align__(16) unsigned char weights[COLUMNS * WEIGHT_STRIDE];
    __align__(16) __half mask[MOST_QUERIES][MOST_ROWS];
    __align__(16) float exchange[COLUMNS][SHARE];              // maxima, at the end sums
};
static_assert(sizeof(shared_state) <= 126 * 1024, "what experiment.py asks for");

static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ float log2_fast(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ float reciprocal_fast(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ unsigned shared_place(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void barrier_init(unsigned long long *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_place(barrier)), "r"(arrivals) : "memory");
}

static __device__ __forceinline__ void wait_for(unsigned long long *barrier, int parity)
{
    unsigned done;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_place(barrier)), "r"(parity)
                     : "memory");
    while (!done);
}

// Asks for the line's other sectors too: the warp is going to want them.
static __device__ __forceinline__ void copy_16(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// The thread arrives once all its copies so far have.
static __device__ __forceinline__ void arrive_copied(unsigned long long *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_place(barrier)) : "memory");
}

// Of the warps that share a group of columns; 0 is __syncthreads'.
static __device__ __forceinline__ void group_barrier(int group)
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(32 * SHARE) : "memory");
}

static __device__ __forceinline__ void load_matrices(unsigned (&m)[4], unsigned place)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(place)
                 : "memory");
}

static __device__ __forceinline__ void load_transposed(unsigned (&m)[4], unsigned place)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(place)
                 : "memory");
}

static __device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
