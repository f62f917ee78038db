// A tile of rows: scores, weights, weighted values.

#pragma once

#include "attention_copy.cuh"

// Lane 4 c + t of a warp holds columns c and c + 8 of its group of 16; of rows, or of values, it holds pairs t, t + 4 ...
struct warp_place {
    int lane, group, share;  // `share`: which of the warps that share the group
    int column, pair;
};

// What a lane knows of its two columns. `sum` is over its own rows alone.
struct running {
    float maximum[2], sum[2];
};

// A function of a column's scalar for the lane's two columns: every lane computes both, or, of the four lanes that share them, the
// first computes it for one column, the second for the other, and all receive the two results.
template <bool BROADCAST, float (*FUNCTION)(float)>
static __device__ __forceinline__ void of_both(float (&to)[2], float first, float second)
{
    if (BROADCAST) {
        const float mine = FUNCTION(threadIdx.x % 2 ? second : first);
        to[0] = __shfl_sync(EVERY_LANE, mine, 0, 4);
        to[1] = __shfl_sync(EVERY_LANE, mine, 1, 4);
    } else {
        to[0] = FUNCTION(first);
        to[1] = FUNCTION(second);
    }
}

// Q of the warp's columns as operands; zeros for columns beyond the queries.
static __device__ __forceinline__ void load_q(unsigned (&q)[STEPS][4], const warp_place &at, const shared_state &shared, int queries)
{
    const unsigned from = shared_place(shared.q) + (at.group * 16 + at.lane % 16) * ROW_STRIDE + at.lane / 16 * 16;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        q[step][0] = q[step][1] = q[step][2] = q[step][3] = 0;
        if (at.group * 2 < queries)
            load_matrices(q[step], from + step * 32);
        if (at.group * 2 + 1 >= queries)
            q[step][1] = q[step][3] = 0;
    }
}

// Scores of the warp's rows, [eight rows][column c: rows 2t, 2t + 1; column c + 8: the same]. Two sums a column, since a matrix
// instruction waits for the last one's.
static __device__ __forceinline__ void tile_scores(float (&scores)[ROW_TILES][4], const unsigned (&q)[STEPS][4], const warp_place &at, unsigned k)
{
    float sums[2][ROW_TILES][4] = {};
    if constexpr (ROW_TILES == 1) {
        const unsigned from = k + (at.share * WARP_ROWS + at.lane % 8) * ROW_STRIDE + at.lane / 8 * 16;
#pragma unroll
        for (int step = 0; step < STEPS; step += 2) {
            unsigned m[4];
            load_matrices(m, from + step * 32);
            multiply(sums[0][0], q[step], m[0], m[1]);
            multiply(sums[1][0], q[step + 1], m[2], m[3]);
        }
    } else {
        const unsigned from = k + (at.share * WARP_ROWS + at.lane / 16 * 8 + at.lane % 8) * ROW_STRIDE + at.lane / 8 % 2 * 16;
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int i = 0; i < ROW_TILES; i += 2) {
                unsigned m[4];
                load_matrices(m, from + i * 8 * ROW_STRIDE + step * 32);
                multiply(sums[step % 2][i], q[step], m[0], m[1]);
                multiply(sums[step % 2][i + 1], q[step], m[2], m[3]);
            }
    }
#pragma unroll
    for (int i = 0; i < ROW_TILES; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            scores[i][e] = __fmul_rn(__fadd_rn(sums[0][i][e], sums[1][i][e]), SCORE_SCALE);
}

// `row`: the warp's first in the block. Columns of padding take some query's mask; nobody reads them.
static __device__ __forceinline__ void
add_mask(float (&scores)[ROW_TILES][4], const warp_place &at, const shared_state &shared, int queries, int row)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const __half *mask = shared.mask[min(at.group * 2 + h, queries - 1)] + row + at.pair * 2;
#pragma unroll
        for (int i = 0; i < ROW_TILES; i++) {
            const float2 two = __half22float2(*(const __half2 *)(mask + i * 8));
            scores[i][2 * h] = __fmaf_rn(two.x, LOG2_E, scores[i][2 * h]);
            scores[i][2 * h + 1] = __fmaf_rn(two.y, LOG2_E, scores[i][2 * h + 1]);
        }
    }
}

// The largest score of the lane's columns in the tile and before, over the warps that share them.
static __device__ __forceinline__ void
tile_maximum(float (&most)[2], const running &state, const float (&scores)[ROW_TILES][4], const warp_place &at, shared_state &shared)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        most[h] = NO_MAXIMUM;
#pragma unroll
        for (int i = 0; i < ROW_TILES; i++)
            most[h] = fmaxf(most[h], fmaxf(scores[i][2 * h], scores[i][2 * h + 1]));
        most[h] = fmaxf(most[h], __shfl_xor_sync(EVERY_LANE, most[h], 1));
        most[h] = fmaxf(most[h], __shfl_xor_sync(EVERY_LANE, most[h], 2));
        if (at.pair == 0)
            shared.exchange[at.group * 16 + at.column + 8 * h][at.share] = most[h];
    }
    __syncthreads();  // of all warps: the tile before is no longer read
#pragma unroll
    for (int h = 0; h < 2; h++) {
        most[h] = state.maximum[h];
#pragma unroll
        for (int s = 0; s < SHARE; s++)
            most[h] = fmaxf(most[h], shared.exchange[at.group * 16 + at.column + 8 * h][s]);
    }
}

// Weights to shared memory for the warps that share the columns; `factor` brings what was summed before to the new maximum.
static __device__ __forceinline__ void tile_weights(running &state, float (&factor)[2], const float (&most)[2],
                                                    const float (&scores)[ROW_TILES][4], const warp_place &at, shared_state &shared)
{
    of_both<EXP_BROADCAST, exp2_fast>(factor, __fsub_rn(state.maximum[0], most[0]), __fsub_rn(state.maximum[1], most[1]));
    unsigned char *to = shared.weights + (at.group * 16 + at.column) * WEIGHT_STRIDE + (at.share * WARP_ROWS + at.pair * 2) * 2;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < ROW_TILES; i++) {
            const float one = exp2_fast(__fsub_rn(scores[i][2 * h], most[h])), two = exp2_fast(__fsub_rn(scores[i][2 * h + 1], most[h]));
            sum = __fadd_rn(sum, __fadd_rn(one, two));
            *(__half2 *)(to + h * 8 * WEIGHT_STRIDE + i * 16) = __floats2half2_rn(one, two);
        }
        state.maximum[h] = most[h];
        state.sum[h] = __fmaf_rn(state.sum[h], factor[h], sum);
    }
    group_barrier(at.group);
}

static __device__ __forceinline__ void rescale(float (&values)[WIDTH_TILES][4], const float (&factor)[2])
{
#pragma unroll
    for (int i = 0; i < WIDTH_TILES; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            values[i][e] = __fmul_rn(values[i][e], factor[e / 2]);
}

// Add the tile's weights times values, for the warp's part of the width.
static __device__ __forceinline__ void
tile_values(float (&values)[WIDTH_TILES][4], const warp_place &at, const shared_state &shared, unsigned v)
{
    const unsigned weights = shared_place(shared.weights) + (at.group * 16 + at.lane % 16) * WEIGHT_STRIDE + at.lane / 16 * 16;
    const unsigned from = v + at.lane % 16 * ROW_STRIDE + at.share * WARP_WIDTH * 2 + at.lane / 16 * 16;
#pragma unroll
    for (int step = 0; step < TILE / 16; step++) {
        unsigned a[4];
        load_matrices(a, weights + step * 32);
#pragma unroll
        for (int i = 0; i < WIDTH_TILES; i += 2) {
            unsigned m[4];
            load_transposed(m, from + step * 16 * ROW_STRIDE + i * 16);
            multiply(values[i], a, m[0], m[1]);
            multiply(values[i + 1], a, m[2], m[3]);
        }
    }
}
