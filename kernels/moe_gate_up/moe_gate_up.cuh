// y[row, 1024] = x[token of the row] . W[expert of the row] for rows sorted by expert; W is quantised, x half, y float.
//
// A block of four warps: 128 of an expert's 1,024 outputs (64 of a HALVED format), all the expert's rows (in passes of 8 TILES), all of K in steps of 256.
// A warp has 32 outputs; where a format is HALVED, two warps have the same ones and a half of every step each, and add up at the end. Weights are the
// matrix unit's A operand, decoded in registers from the bytes in shared memory; x lies in shared memory as B. Two stages: one is filled, one used.

#pragma once

#include <cuda_fp16.h>

#include "moe_device.cuh"
#include "moe_formats.cuh"
#include "moe_codebook_formats.cuh"
#include "moe_codebooks.cuh"
#include "moe_copies.cuh"

#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef MASK_HOISTED
#define MASK_HOISTED 0  // 1: which half of a step is worked on stands in the code; 0: it follows from the place in K
#endif
#ifndef UNION
#define UNION 0  // 1: the sums that warps exchange lie where the stages lay, after a barrier
#endif
#ifndef PADDED
#define PADDED 0  // 1: the rest of the block's shared memory is written and read
#endif

INLINE void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// x of a chunk for the lane's columns, tile by tile of eight rows; what lies in rows that nobody copied comes to nothing that is stored.
template <class F, int TILES> INLINE void load_x(uint4 (&b)[TILES], const byte *x, int tiles)
{
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const byte *from = x + tile * ROW_TILE * layout<F, TILES>::X_PITCH;
        if (tile >= tiles)
            continue;
        if (F::SPLIT) {
            const uint2 one = words_at(from), two = words_at(from + 32);
            b[tile] = make_uint4(one.x, one.y, two.x, two.y);
        } else {
            b[tile] = four_words_at(from);
        }
    }
}

// A chunk of 16 outputs, rows g and g + 8: two products of 16 values each.
template <int TILES>
INLINE void multiply_chunk(float (&sums)[TILES][4], const u32 (&upper)[4], const u32 (&lower)[4], const uint4 (&b)[TILES], int tiles)
{
    const u32 first[4] = {upper[0], lower[0], upper[1], lower[1]}, second[4] = {upper[2], lower[2], upper[3], lower[3]};
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
        if (tile < tiles)
            multiply(sums[tile], first, b[tile].x, b[tile].y);
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
        if (tile < tiles)
            multiply(sums[tile], second, b[tile].z, b[tile].w);
}

// Two chunks of a warp's outputs. A halved format decodes before it loads x, which takes fewer registers.
template <class F, int TILES, int P> INLINE void two_chunks(float (&sums)[2][TILES][4], place at, const byte *x, int tiles)
{
    constexpr int FIRST = F::PARTNER == 1 ? 2 * P : P;
    const byte *x_one = x + 64 * FIRST, *x_two = x_one + 64 * F::PARTNER;
    uint4 one[TILES], two[TILES];
    if (!F::HALVED) {
        load_x<F, TILES>(one, x_one, tiles);
        load_x<F, TILES>(two, x_two, tiles);
    }
    u32 a[4][4], b[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        F::template pair<P>(at, F::open(at), a[r], b[r]);
        at.block += 8 * F::PITCH;
    }
    if (F::HALVED)
        load_x<F, TILES>(one, x_one, tiles);
    multiply_chunk<TILES>(sums[0], a[0], a[1], one, tiles);
    multiply_chunk<TILES>(sums[1], a[2], a[3], one, tiles);
    if (F::HALVED)
        load_x<F, TILES>(two, x_two, tiles);
    multiply_chunk<TILES>(sums[0], b[0], b[1], two, tiles);
    multiply_chunk<TILES>(sums[1], b[2], b[3], two, tiles);
}

// A half of a step.
template <class F, int TILES> INLINE void half_step(float (&sums)[2][TILES][4], place at, const byte *x, int tiles)
{
    two_chunks<F, TILES, 0>(sums, at, x + 256 * at.h, tiles);
    two_chunks<F, TILES, 1>(sums, at, x + 256 * at.h, tiles);
}

// Element i of a lane's sums: its row of x, and the output beyond those that it begins with.
INLINE int row_of(int i)
{
    return i / 4 * ROW_TILE + threadIdx.x % 4 * 2 + i % 2;
}

template <int TILES> INLINE void store(const float (&sums)[TILES][4], const task &work, int output, int first_row, int rows)
{
    const int mine = output + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < 4 * TILES; i++)
        if (row_of(i) < rows)
            work.y[(long long)(first_row + row_of(i)) * OUTPUTS + mine + i % 4 / 2 * 8] = sums[i / 4][i % 4];
}

// The two warps of the same outputs add their halves: each finishes 16 of them.
template <int TILES> INLINE void exchange(float (&sums)[2][TILES][4], float *between, int half)
{
    constexpr int COUNT = 4 * TILES;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *give = between + (warp ^ 1) * COUNT * 32 + lane, *take = between + warp * COUNT * 32 + lane;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        give[32 * i] = half ? sums[0][i / 4][i % 4] : sums[1][i / 4][i % 4];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        sums[0][i / 4][i % 4] = (half ? sums[1][i / 4][i % 4] : sums[0][i / 4][i % 4]) + take[32 * i];
}

template <class F> INLINE void fill_tables(u32 *grid, u32 *signs)
{
    for (int i = threadIdx.x; i < F::GRID; i += THREADS)
        grid[i] = codebook<F>()[i];
    if (F::SIGN_BITS)
        for (int i = threadIdx.x; i < 1 << F::SIGN_BITS; i += THREADS)
            signs[i] = sign_entry<F>(i);
}

// All of K for one pass over an expert's rows.
template <class F, int TILES>
INLINE void product(float (&sums)[2][TILES][4], copier<F, TILES> &copies, const byte *stages, place at, int columns, int tiles)
{
    typedef layout<F, TILES> L;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 32 / (1 + F::HALVED), half = threadIdx.x / 32 % 2;
    const byte *weights = stages + (group * 32 + lane / 4) * F::PITCH;
    const byte *x = stages + L::WEIGHT_BYTES + lane / 4 * L::X_PITCH + lane % 4 * (F::SPLIT ? 8 : 16);
    copies.copy(0, 0);
    end_of_copies();
    int used = 0, into = 0;
#pragma unroll UNROLL
    for (int k = 0; k < columns; k += STEP) {
        wait_for_copies();
        __syncthreads();
        if (k + STEP < columns)
            copies.copy(used ^ 1, k + STEP);
        end_of_copies();
#if !HOISTED
        into = bytes_before<F>(k) & 15;
#endif
        at.block = weights + used * L::STAGE_BYTES + into;
        at.shift = (into & 2) * 8;
        const byte *x_now = x + used * L::STAGE_BYTES;
#if MASK_HOISTED
        if (F::HALVED) {
            at.h = half;
            half_step<F, TILES>(sums, at, x_now, tiles);
        } else {
#pragma unroll
            for (at.h = 0; at.h < 2; at.h++)
                half_step<F, TILES>(sums, at, x_now, tiles);
        }
#else
        const int begin = F::HALVED ? k + STEP / 2 * half : k, end = F::HALVED ? begin + STEP / 2 : k + STEP;
#pragma unroll 1
        for (int place_in_k = begin; place_in_k < end; place_in_k += STEP / 2) {
            at.h = place_in_k % STEP / (STEP / 2);
            half_step<F, TILES>(sums, at, x_now, tiles);
        }
#endif
#if HOISTED
        into = (into + L::STEP_BYTES) & 15;
#endif
        used ^= 1;
    }
}

// One block of outputs of one expert; gridDim is (blocks of outputs, experts).
template <class F, int TILES> INLINE void moe_gate_up(const task &work, int shared_bytes)
{
    typedef layout<F, TILES> L;
    extern __shared__ __align__(128) byte shared[];
    __shared__ u32 grid[F::GRID ? F::GRID : 1], signs[F::SIGN_BITS ? 1 << F::SIGN_BITS : 1];
    const int expert = blockIdx.y, warp = threadIdx.x / 32, half = warp % 2, first_output = blockIdx.x * L::BLOCK_OUTPUTS;
    const int begin = work.offsets[expert], count = work.offsets[expert + 1] - begin;
    if (count == 0)
        return;
#if PADDED
    for (int i = L::SHARED_BYTES + 4 * threadIdx.x; i < shared_bytes; i += 4 * THREADS)
        *reinterpret_cast<volatile int *>(shared + i) = i;
    if (*reinterpret_cast<volatile int *>(shared + shared_bytes - 4) == -1)
        return;
#endif
    fill_tables<F>(grid, signs);
    const place start = {shared, 0, 0, (int)threadIdx.x % 4, grid, signs};
    for (int pass = 0; pass < count; pass += ROW_TILE * TILES) {
        const int rows = min(count - pass, ROW_TILE * TILES), first_row = begin + pass;
        copier<F, TILES> copies(work, shared_place(shared), expert * OUTPUTS + first_output, first_row, rows);
        float sums[2][TILES][4] = {};
        product<F, TILES>(sums, copies, shared, start, work.columns, (rows + ROW_TILE - 1) / ROW_TILE);
        if (F::HALVED) {
#if UNION
            __syncthreads();
#endif
            exchange<TILES>(sums, reinterpret_cast<float *>(UNION ? shared : shared + 2 * L::STAGE_BYTES), half);
            store<TILES>(sums[0], work, first_output + warp * 16, first_row, rows);
        } else {
            store<TILES>(sums[0], work, first_output + warp * 32, first_row, rows);
            store<TILES>(sums[1], work, first_output + warp * 32 + 16, first_row, rows);
        }
        __syncthreads();
    }
}
