// Shapes of the operation and of a block's share of it, and copies into shared memory.

#pragma once

#include <cuda_fp16.h>

constexpr int ROWS = 2048, ROW_BYTES = 420, EXPERT_BYTES = ROWS * ROW_BYTES;
constexpr int TOP = 8, SLOTS = 2 * TOP;                     // a slot is a token's place for an expert
constexpr int PASSES = 2, TILE_ROWS = 8 * PASSES, TILE_BYTES = TILE_ROWS * ROW_BYTES, TILES = ROWS / TILE_ROWS;
constexpr int LANES_A_ROW = 4;
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;

struct expert_task {
    const unsigned char *weights;
    const int *ids;
    const signed char *x;
    const __half *dx;
    float *y;
    int ids_stride, x_stride, dx_stride;  // of rows, in elements
};

static __device__ __forceinline__ unsigned shared_place(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

// One copy in flight and the barrier that it arrives at, which the calling thread has initialised.
static __device__ __forceinline__ void copy_tile(void *to, const unsigned char *from, unsigned long long *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_place(arrived)), "r"(TILE_BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)),
                 "l"(from), "r"(TILE_BYTES), "r"(shared_place(arrived))
                 : "memory");
}

static __device__ __forceinline__ void initialise(unsigned long long *arrived)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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
