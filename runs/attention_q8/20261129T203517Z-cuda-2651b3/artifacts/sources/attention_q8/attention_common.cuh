// Shapes, asynchronous copies and stores, matrix instructions, reductions.

#pragma once

#include <cuda_fp16.h>

constexpr int WIDTH = 128, Q8_BLOCKS = 4, ROW_BYTES = 136, ROW_WORDS = ROW_BYTES / 4;
constexpr int COLUMNS = 8;  // query heads of a KV head, times queries: a side of the matrix instructions
constexpr int KV_HEADS = 8, GROUP = 4, HEADS = KV_HEADS * GROUP;
constexpr int WARPS = 16, THREADS = 32 * WARPS;
constexpr int SPLITS = 16;                                  // blocks that share a KV head's rows
constexpr int SLICE_ROWS = 16, QUARTERS = 4;                // rows of a matrix instruction; groups of warps that share V's rows
constexpr int PADDED_CODES = 36, PADDED_VALUES = WIDTH + 8;  // columns lie on other banks
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
constexpr float SCORE_SCALE = 0.08838834764831845f * LOG2_E;  // 1 / sqrt(128), scores being powers of two
constexpr float NO_MAXIMUM = -1e30f;                          // finite, so that a row of -inf gives 0 and not NaN
constexpr float INTEGER_FLOAT = 12582912.0f;                  // 1.5 * 2^23: the bits of this float plus n are those of it + n
constexpr int INTEGER_BITS = 0x4B400000;
constexpr int MOST_VALUES = WIDTH * COLUMNS / SPLITS;  // values that a block finishes
constexpr unsigned EMPTY = 0xFFFFFFFFu;                // a NaN that no arithmetic makes

struct attention_task {
    const unsigned char *k, *v;
    const __half *q, *mask;
    float *out, *accumulated, *maxima, *sums;
    unsigned *mail;
    int rows, queries, partitions;  // `rows` of a block
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ unsigned shared_place(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void start_barrier(unsigned long long *barrier)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(barrier)) : "memory");
}

static __device__ __forceinline__ void expect(unsigned long long *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_place(barrier)), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void copy_rows(void *to, const unsigned char *from, unsigned bytes, unsigned long long *arrived)
{
    expect(arrived, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)),
                 "l"(from), "r"(bytes), "r"(shared_place(arrived))
                 : "memory");
}

static __device__ __forceinline__ void wait_for(unsigned long long *arrived)
{
    unsigned done;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_place(arrived))
                     : "memory");
    while (!done);
}

// Words that another block of this launch writes and nobody orders: each is EMPTY until it is there.
static __device__ __forceinline__ uint2 peek(const uint2 *place)
{
    uint2 x;
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "l"(place) : "memory");
    return x;
}

static __device__ __forceinline__ void post(float4 *place, const float4 &x)
{
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(place), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w) : "memory");
}

static __device__ __forceinline__ void post(uint2 *place, const uint2 &x)
{
    asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(place), "r"(x.x), "r"(x.y) : "memory");
}

// Integers of 16 rows x 32 values times 32 values x 8 columns, added to INTEGER_BITS.
static __device__ __forceinline__ void multiply(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(INTEGER_BITS));
}

// Halves of 16 values x 16 rows times 16 rows x 8 columns, added to what is there in float or in half.
static __device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void multiply_add(unsigned (&c)[2], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Eight rows of eight halves, two a lane, to eight columns.
static __device__ __forceinline__ unsigned transposed(unsigned pair)
{
    unsigned turned;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    return turned;
}

static __device__ __forceinline__ unsigned bits(const __half2 &x)
{
    return *(const unsigned *)&x;
}

static __device__ __forceinline__ __half2 halves(unsigned x)
{
    return *(const __half2 *)&x;
}

// Sum over lanes whose numbers differ in the bits FIRST, ..., LAST: in every lane, or in the one where those bits are 0.
template <int FIRST, int LAST> static __device__ __forceinline__ float lane_sum(float x)
{
#pragma unroll
    for (int step = LAST; step >= FIRST; step /= 2)
#if ROOT_REDUCTIONS
        x = __fadd_rn(x, __shfl_down_sync(EVERY_LANE, x, step));
#else
        x = __fadd_rn(x, __shfl_xor_sync(EVERY_LANE, x, step));
#endif
    return x;
}

// The largest, likewise, for one lane to hand on.
template <int FIRST, int LAST> static __device__ __forceinline__ float lane_maximum(float x)
{
#pragma unroll
    for (int step = LAST; step >= FIRST; step /= 2)
#if ROOT_REDUCTIONS
        x = fmaxf(x, __shfl_down_sync(EVERY_LANE, x, step));
#else
        x = fmaxf(x, __shfl_xor_sync(EVERY_LANE, x, step));
#endif
    return x;
}
