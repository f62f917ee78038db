// A warp's part of a block: scores and weights of its rows, then a quarter of the rows times one Q8_0 block of V.

#pragma once

#include "attention_common.cuh"

// What the warps of a block share. `codes` and `weights` lie as the matrix instructions take them.
struct shared_state {
    unsigned long long arrived[2 * WARPS];
    __align__(16) unsigned codes[COLUMNS][PADDED_CODES];
    __align__(16) float scales[COLUMNS][Q8_BLOCKS];
    float maxima[WARPS][COLUMNS], sums[WARPS][COLUMNS];
    uint4 weights[WARPS][32];
    __align__(16) float values[QUARTERS][COLUMNS][PADDED_VALUES];
};
static_assert(sizeof(shared_state) <= 28 * 1024, "what experiment.py asks for beside the rows");

// In a block whose values begin in the middle of a word, the eighth word is made of the first and the last two values.
static __device__ __forceinline__ unsigned eighth(bool last, unsigned first, unsigned word)
{
    return __byte_perm(first, word, last ? 0x5432u : 0x7654u);
}

// Quantise Q as the format does, a warp for a column: codes [column][block][word] in K's order of values, and scale * SCORE_SCALE.
static __device__ __forceinline__ void quantise_q(const uint2 &raw, int column, shared_state &shared)
{
    const int lane = threadIdx.x % 32, b = lane / 8, pair = lane % 8 * 2;
    const float2 low = __half22float2(halves(raw.x)), high = __half22float2(halves(raw.y));
    float most = fmaxf(fmaxf(fabsf(low.x), fabsf(low.y)), fmaxf(fabsf(high.x), fabsf(high.y)));
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
        most = fmaxf(most, __shfl_xor_sync(EVERY_LANE, most, step));
    const float inverse = most > 0.0f ? __fdiv_rn(127.0f, most) : 0.0f;
    const int x = __float2int_rn(__fmul_rn(low.x, inverse)), y = __float2int_rn(__fmul_rn(low.y, inverse));
    const int z = __float2int_rn(__fmul_rn(high.x, inverse)), w = __float2int_rn(__fmul_rn(high.y, inverse));
    unsigned short *codes = (unsigned short *)&shared.codes[column][b * 8];
    // Blocks 0 and 2 begin in the middle of a word: words of pairs (1, 2), (3, 4), ..., (13, 14), (0, 15).
    const int first = b % 2 ? pair : pair == 0 ? 14 : pair - 1, second = b % 2 ? pair + 1 : pair == 14 ? 15 : pair;
    codes[first] = (unsigned short)((x & 255) | (y & 255) << 8);
    codes[second] = (unsigned short)((z & 255) | (w & 255) << 8);
    if (lane % 8 == 0)
        shared.scales[column][b] = __fmul_rn(most, SCORE_SCALE / 127.0f);
}

// Scores of a warp's slices: a lane has those of rows 2 g and 2 g + 1 of each, columns 2 t and 2 t + 1 (g = lane / 4, t = lane % 4).
template <int SLICES>
static __device__ __forceinline__ void tile_scores(float (&scores)[SLICES][4], const unsigned char *k, const shared_state &shared)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    unsigned codes[Q8_BLOCKS][2];
    float scales[2][Q8_BLOCKS];
#pragma unroll
    for (int b = 0; b < Q8_BLOCKS; b++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            codes[b][i] = shared.codes[g][b * 8 + i * 4 + t];
    *(float4 *)scales[0] = *(const float4 *)shared.scales[2 * t];
    *(float4 *)scales[1] = *(const float4 *)shared.scales[2 * t + 1];
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        const unsigned *row[2];
        row[0] = (const unsigned *)k + (slice * SLICE_ROWS + 2 * g) * ROW_WORDS;
        row[1] = row[0] + ROW_WORDS;
#pragma unroll
        for (int i = 0; i < 4; i++)
            scores[slice][i] = 0.0f;
#pragma unroll
        for (int b = 0; b < Q8_BLOCKS; b++) {
            const int begin = b / 2 * 17, word = begin + (b % 2 ? 9 : 1) + t;
            unsigned a[4];
            float d[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const unsigned edge = row[r][begin + (b % 2 ? 8 : 0)];
                d[r] = b % 2 ? __high2float(halves(edge)) : __low2float(halves(edge));
                a[r] = row[r][word];
                a[2 + r] = b % 2 ? row[r][word + 4] : eighth(t == 3, edge, row[r][word + 4]);
            }
            int whole[4];
            multiply(whole, a, codes[b]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float n = __fadd_rn(__int_as_float(whole[i]), -INTEGER_FLOAT);
                scores[slice][i] = __fmaf_rn(__fmul_rn(n, scales[i % 2][b]), d[i / 2], scores[slice][i]);
            }
        }
    }
}

// The largest score of a warp's rows, by column, for the block.
template <int SLICES> static __device__ __forceinline__ void tile_maxima(const float (&scores)[SLICES][4], float *maxima)
{
    const int lane = threadIdx.x % 32;
    float most[2] = {NO_MAXIMUM, NO_MAXIMUM};
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            most[i % 2] = fmaxf(most[i % 2], scores[slice][i]);
#pragma unroll
    for (int c = 0; c < 2; c++)
        most[c] = lane_maximum<4, 16>(most[c]);
    if (lane < 4)
        *(float2 *)&maxima[2 * lane] = make_float2(most[0], most[1]);
}

// Weights of a warp's rows, relative to the block's maxima: halves for the matrix instructions, sums by column.
template <int SLICES>
static __device__ __forceinline__ void tile_weights(const float (&scores)[SLICES][4], const float2 &most, int warp, shared_state &shared)
{
    const int lane = threadIdx.x % 32;
    unsigned pairs[2 * SLICES];
    float sum[2] = {0.0f, 0.0f};
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float x = exp2_fast(__fsub_rn(scores[slice][2 * r], most.x)), y = exp2_fast(__fsub_rn(scores[slice][2 * r + 1], most.y));
            sum[0] = __fadd_rn(sum[0], x);
            sum[1] = __fadd_rn(sum[1], y);
            pairs[2 * slice + r] = transposed(bits(__floats2half2_rn(x, y)));
        }
    if (SLICES == 2)
        shared.weights[warp][lane] = *(const uint4 *)pairs;
    else
        *(uint2 *)&shared.weights[warp][lane] = *(const uint2 *)pairs;
#pragma unroll
    for (int c = 0; c < 2; c++)
        sum[c] = lane_sum<4, 16>(sum[c]);
    if (lane < 4)
        *(float2 *)&shared.sums[warp][2 * lane] = make_float2(sum[0], sum[1]);
}

static __device__ __forceinline__ __half2 decoded(unsigned one, unsigned other, unsigned place)
{
    const unsigned offset = 0x64806480u;  // 1152: 1024 + byte is exact, and so is byte - 128
    const unsigned pair = (__byte_perm(one, other, place) & 0x00FF00FFu) ^ offset;
    return __hsub2_rn(halves(pair), halves(offset));
}

#if ATTENTION_HALF
typedef unsigned accumulators[2][2];
#else
typedef float accumulators[2][4];
#endif

// Add a tile's rows, weights times V, for 32 values: four values of each column of two a lane, in two matrices.
template <int SLICES>
static __device__ __forceinline__ void tile_values(accumulators &total, const unsigned char *v, const uint4 *weights, int b)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const bool odd = b % 2, last = !odd && g == 7;
    const unsigned scale = odd ? 0x7632u : 0x5410u;
    const int edge = b / 2 * 17 + (odd ? 8 : 0), word = b / 2 * 17 + (odd ? 9 : 1) + g;
    unsigned pairs[2 * SLICES];
    if (SLICES == 2)
        *(uint4 *)pairs = weights[lane];
    else
        *(uint2 *)pairs = *(const uint2 *)&weights[lane];
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        const unsigned *row = (const unsigned *)v + (slice * SLICE_ROWS + 4 * t) * ROW_WORDS;
        unsigned edges[4], words[4], p[2];
#pragma unroll
        for (int r = 0; r < 4; r++) {
            edges[r] = row[r * ROW_WORDS + edge];
            words[r] = eighth(last, edges[r], row[r * ROW_WORDS + word]);
        }
#pragma unroll
        for (int r = 0; r < 2; r++)  // rows 4 t and 4 t + 2, then 4 t + 1 and 4 t + 3: as the weights were transposed
            p[r] = bits(__hmul2_rn(halves(pairs[2 * slice + r]), halves(__byte_perm(edges[r], edges[r + 2], scale))));
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned a[4];
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    a[2 * r + j] = bits(decoded(words[r], words[r + 2], 0x4400u + 0x1111u * (2 * i + j)));
            multiply_add(total[i], a, p);
        }
    }
}

// A warp's 32 values of every column to shared memory.
static __device__ __forceinline__ void store_values(const accumulators &total, float (&values)[COLUMNS][PADDED_VALUES], int b)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const bool odd = b % 2, last = !odd && g == 7;
    const int low = 32 * b + (odd ? 4 * g : last ? 0 : 4 * g + 2), high = 32 * b + (odd ? 4 * g + 2 : last ? 30 : 4 * g + 4);
#pragma unroll
    for (int c = 0; c < 2; c++) {
        float x[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
#if ATTENTION_HALF
            x[i] = c ? __high2float(halves(total[i / 2][i % 2])) : __low2float(halves(total[i / 2][i % 2]));
#else
            x[i] = total[i / 2][i % 2 * 2 + c];
#endif
        *(float2 *)&values[2 * t + c][low] = make_float2(x[0], x[1]);
        *(float2 *)&values[2 * t + c][high] = make_float2(x[2], x[3]);
    }
}
