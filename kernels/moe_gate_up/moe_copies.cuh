// Shapes, where things lie in a stage, and what each thread copies into it.

#pragma once

#ifndef HOISTED
#define HOISTED 0  // 1: pointers move on from step to step; 0: each step makes them anew from the place in K
#endif

constexpr int WARPS = 4, THREADS = 32 * WARPS, OUTPUTS = 1024, STEP = 256, ROW_TILE = 8;

struct task {
    const byte *weights;  // [512, 1024, row bytes]
    const __half *x;      // [tokens, columns]
    const int *tokens;    // [rows]: the token of each row
    const int *offsets;   // [513]: an expert's first row
    float *y;             // [rows, 1024]
    int columns;          // K
};

template <class F> INLINE int bytes_before(int k)
{
    return k / F::VALUES * F::BYTES;
}

template <class F, int TILES> struct layout {
    static constexpr int BLOCK_OUTPUTS = 32 * WARPS / (1 + F::HALVED);
    static constexpr int STEP_BYTES = STEP / F::VALUES * F::BYTES;
    static constexpr int X_PITCH = 2 * STEP + (F::SPLIT ? 32 : 64);  // so that the lanes' loads of x meet no bank twice
    static constexpr int WEIGHT_BYTES = BLOCK_OUTPUTS * F::PITCH;
    static constexpr int STAGE_BYTES = WEIGHT_BYTES + ROW_TILE * TILES * X_PITCH;
    static constexpr int SHARED_BYTES = 2 * STAGE_BYTES + (F::HALVED ? WARPS * 4 * TILES * 32 * 4 : 0);
};

INLINE u32 shared_place(const void *pointer)
{
    return (u32)__cvta_generic_to_shared(pointer);
}

// 16 bytes past the first-level cache, asynchronously.
INLINE void copy_16(u32 to, const void *from)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

INLINE void end_of_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

INLINE void wait_for_copies()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// What a thread copies in every step: eight threads share a row of weights, 16 bytes each at a time; a warp copies a row of x.
template <class F, int TILES> struct copier {
    typedef layout<F, TILES> L;
    static constexpr int LANES = 8, ROWS = THREADS / LANES, PASSES = L::BLOCK_OUTPUTS / ROWS;
    static constexpr int WIDEST = (L::STEP_BYTES + 14 + 15) / 16;  // pieces of 16 bytes that a step of a row touches at most
    static constexpr int X_ROWS = ROW_TILE * TILES / WARPS;
    const task &work;
    u32 stages;
    int row;            // the thread's first row of weights in the tensor
    int tokens[X_ROWS];  // whose rows of x it copies pieces of; -1 for none
    const byte *next;   // HOISTED: where the thread's next copy begins, and how far that is from a multiple of 16
    int next_into;

    __device__ __forceinline__ copier(const task &work, u32 stages, int first_row_of_weights, int first_row, int rows)
        : work(work), stages(stages), row(first_row_of_weights + threadIdx.x / LANES), next_into(0)
    {
        next = work.weights + (long long)row * bytes_before<F>(work.columns);
#pragma unroll
        for (int i = 0; i < X_ROWS; i++) {
            const int mine = threadIdx.x / 32 + WARPS * i;
            tokens[i] = mine < rows ? work.tokens[first_row + mine] : -1;
        }
    }

    // All rows of a tensor lie a multiple of 16 bytes apart, so a step begins equally far from one in each.
    __device__ __forceinline__ void copy(int stage, int k)
    {
        const int lane = threadIdx.x % LANES;
#if HOISTED
        const int into = next_into;
        const byte *from = next;
        next += L::STEP_BYTES;
        next_into = (next_into + L::STEP_BYTES) & 15;
#else
        const int into = bytes_before<F>(k) & 15;
        const byte *from = work.weights + (long long)row * bytes_before<F>(work.columns) + bytes_before<F>(k);
#endif
        const int pieces = (into + L::STEP_BYTES + 15) / 16;
        const long long apart = (long long)ROWS * bytes_before<F>(work.columns);
        const u32 begin = stages + stage * L::STAGE_BYTES, to = begin + threadIdx.x / LANES * F::PITCH + 16 * lane;
        from += 16 * lane - into;
#pragma unroll
        for (int i = 0; i < PASSES; i++) {
#pragma unroll
            for (int piece = 0; piece < WIDEST; piece += LANES)
                if (lane + piece < pieces)
                    copy_16(to + i * ROWS * F::PITCH + 16 * piece, from + i * apart + 16 * piece);
        }
        const u32 x_to = begin + L::WEIGHT_BYTES + threadIdx.x / 32 * L::X_PITCH + threadIdx.x % 32 * 16;
#pragma unroll
        for (int i = 0; i < X_ROWS; i++)
            if (tokens[i] >= 0)
                copy_16(x_to + WARPS * i * L::X_PITCH, work.x + ((long long)tokens[i] * work.columns + k + threadIdx.x % 32 * 8));
    }
};
