// A warp's tile of 32 rows: scores, weights, weighted values.

#pragma once

#include "attention_common.cuh"

// What a warp makes of its tile: for each column the maximum, the lane's share of the sum of weights and, unnormalised, eight
// values of every second row.
template <int COLUMNS> struct tile_state {
    float maximum[COLUMNS], sum[COLUMNS];
#if ATTENTION_HALF
    __half2 values[COLUMNS][4];
#else
    float values[COLUMNS][8];
#endif
};

// Quantise Q as the format does, a warp for a column: codes of 4 values a word [column][32], and scale * SCORE_SCALE [column][4].
static __device__ __forceinline__ void quantise_q(const uint2 &raw, int column, unsigned *codes, float *scales)
{
    const int lane = threadIdx.x % 32;
    const float2 low = __half22float2(*(const __half2 *)&raw.x), high = __half22float2(*(const __half2 *)&raw.y);
    float most = fmaxf(fmaxf(fabsf(low.x), fabsf(low.y)), fmaxf(fabsf(high.x), fabsf(high.y)));
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
        most = fmaxf(most, __shfl_xor_sync(EVERY_LANE, most, step));
    const float inverse = most > 0.0f ? __fdiv_rn(127.0f, most) : 0.0f;
    const int a = __float2int_rn(__fmul_rn(low.x, inverse)), b = __float2int_rn(__fmul_rn(low.y, inverse));
    const int c = __float2int_rn(__fmul_rn(high.x, inverse)), d = __float2int_rn(__fmul_rn(high.y, inverse));
    codes[column * 32 + lane] = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | (unsigned)d << 24;
    if (lane % 8 == 0)
        scales[column * Q8_BLOCKS + lane / 8] = __fmul_rn(most, SCORE_SCALE / 127.0f);
}

template <int COLUMNS> struct lane_q {
    unsigned codes[COLUMNS][8];
    float scales[COLUMNS];
};

template <int COLUMNS> static __device__ __forceinline__ void load_q(lane_q<COLUMNS> &q, const unsigned *codes, const float *scales)
{
    const int b = threadIdx.x % LANES_A_ROW;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        *(uint4 *)&q.codes[c][0] = *(const uint4 *)&codes[c * 32 + b * 8];
        *(uint4 *)&q.codes[c][4] = *(const uint4 *)&codes[c * 32 + b * 8 + 4];
        q.scales[c] = scales[c * Q8_BLOCKS + b];
    }
}

// Scores of a tile: on return the lane has those of row (lane % 4) * 8 + lane / 4.
template <int COLUMNS>
static __device__ __forceinline__ void tile_scores(float (&scores)[COLUMNS], const lane_q<COLUMNS> &q, const unsigned char *k, float *exchange)
{
    const int lane = threadIdx.x % 32, b = lane % LANES_A_ROW, group = lane / LANES_A_ROW;
    const block_place place = place_of_block(b);
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        const uint2 *words = (const uint2 *)(k + (pass * PASS_ROWS + group) * ROW_BYTES + b * 32);
        unsigned w[10];
#pragma unroll
        for (int i = 0; i < 5; i++)
            *(uint2 *)&w[2 * i] = words[i];
        const unsigned pair = __byte_perm(w[0], w[1], place.scale);
        const float d = __low2float(*(const __half2 *)&pair);
        int total[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            total[c] = INTEGER_BITS;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int four = (int)aligned(place, w[i], w[i + 1], i < 8 ? w[i + 2] : 0);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                total[c] = __dp4a(four, (int)q.codes[c][i], total[c]);
        }
        float score[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const float whole = __fadd_rn(__int_as_float(total[c]), -INTEGER_FLOAT);
            score[c] = group_sum<LANES_A_ROW>(__fmul_rn(whole, __fmul_rn(d, q.scales[c])));
        }
#if ROOT_REDUCTIONS
        if (b == 0)
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 4)
                *(float4 *)&exchange[c / 4 * PADDED_SCORES + pass * (PASS_ROWS * 4 + 8) + group * 4] =
                    make_float4(score[c], score[c + 1], score[c + 2], score[c + 3]);
#else
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            scores[c] = b == pass ? score[c] : scores[c];
#endif
    }
#if ROOT_REDUCTIONS
    __syncwarp();
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 4)
        *(float4 *)&scores[c] = *(const float4 *)&exchange[c / 4 * PADDED_SCORES + b * (PASS_ROWS * 4 + 8) + group * 4];
    __syncwarp();
#endif
}

// Weights of the lane's row to shared memory, at the lane's place.
template <int COLUMNS>
static __device__ __forceinline__ void tile_softmax(tile_state<COLUMNS> &state, const float (&scores)[COLUMNS], void *weights)
{
    const int lane = threadIdx.x % 32;
    float weight[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        state.maximum[c] = fmaxf(NO_MAXIMUM, warp_maximum(scores[c]));
        weight[c] = exp2_fast(__fsub_rn(scores[c], state.maximum[c]));
        state.sum[c] = weight[c];
    }
#if ATTENTION_HALF
    __half2 pairs[COLUMNS / 2];
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 2)
        pairs[c / 2] = __floats2half2_rn(weight[c], weight[c + 1]);
    if (COLUMNS == 8)
        ((uint4 *)weights)[lane] = *(const uint4 *)pairs;
    else
        ((uint2 *)weights)[lane] = *(const uint2 *)pairs;
#else
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 4)
        ((float4 *)weights)[c / 4 * TILE_ROWS + lane] = make_float4(weight[c], weight[c + 1], weight[c + 2], weight[c + 3]);
#endif
    __syncwarp();
}

// Add weights times V: a half-warp for a row, eight values a lane.
template <int COLUMNS>
static __device__ __forceinline__ void tile_values(tile_state<COLUMNS> &state, const unsigned char *v, const void *weights)
{
    const int lane = threadIdx.x % 32, sixteenth = lane % 16, half = lane / 16, b = sixteenth / 4;
    const block_place place = place_of_block(b);
    const unsigned char *mine = v + half * 4 * ROW_BYTES + sixteenth * 8;
    const unsigned char *scale = v + half * 4 * ROW_BYTES + b * 34;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
#if ATTENTION_HALF
        for (int e = 0; e < 4; e++)
            state.values[c][e] = __float2half2_rn(0.0f);
#else
        for (int e = 0; e < 8; e++)
            state.values[c][e] = 0.0f;
#endif
#pragma unroll 1
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int row = j * 8 + i, from = half * 16 + i * 4 + j;
            const uint2 first = *(const uint2 *)(mine + row * ROW_BYTES), second = *(const uint2 *)(mine + row * ROW_BYTES + 8);
            const __half d = *(const __half *)(scale + row * ROW_BYTES);
            unsigned four[2] = {aligned(place, first.x, first.y, second.x), aligned(place, first.y, second.x, second.y)};
            four[0] ^= 0x80808080u;
            four[1] ^= 0x80808080u;
#if ATTENTION_HALF
            __half2 value[4], weight[COLUMNS / 2];
            const unsigned offset = 0x64806480u;  // 1152
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const unsigned pair = __byte_perm(four[e / 2], 0x64646464u, e % 2 ? 0x4342u : 0x4140u);
                value[e] = __hmul2_rn(__hsub2_rn(*(const __half2 *)&pair, *(const __half2 *)&offset), __half2half2(d));
            }
            if (COLUMNS == 8)
                *(uint4 *)weight = ((const uint4 *)weights)[from];
            else
                *(uint2 *)weight = ((const uint2 *)weights)[from];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const __half2 one = c % 2 ? __high2half2(weight[c / 2]) : __low2half2(weight[c / 2]);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    state.values[c][e] = __hfma2(one, value[e], state.values[c][e]);
            }
#else
            float value[8];
            const float wide = __half2float(d), less = __fmul_rn(wide, -32896.0f);  // exact, and so is the value below
#pragma unroll
            for (int e = 0; e < 8; e++)
                value[e] = __fmaf_rn(__int_as_float((int)__byte_perm(four[e / 4], 0x47000000u, 0x7404u + 0x10u * (e % 4))), wide, less);
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 4) {
                const float4 weight = ((const float4 *)weights)[c / 4 * TILE_ROWS + from];
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    state.values[c][e] = __fmaf_rn(weight.x, value[e], state.values[c][e]);
                    state.values[c + 1][e] = __fmaf_rn(weight.y, value[e], state.values[c + 1][e]);
                    state.values[c + 2][e] = __fmaf_rn(weight.z, value[e], state.values[c + 2][e]);
                    state.values[c + 3][e] = __fmaf_rn(weight.w, value[e], state.values[c + 3][e]);
                }
            }
#endif
        }
    __syncwarp();
}

// The warp's sums over its two half-warps to shared memory, [column][half of eight][16 lanes][4]; maxima and sums beside them.
template <int COLUMNS>
static __device__ __forceinline__ void store_warp(const tile_state<COLUMNS> &state, float4 *values, float2 *scalars)
{
    const int lane = threadIdx.x % 32, sixteenth = lane % 16;
    const bool upper = lane >= 16;
#pragma unroll
    for (int c = 0; c < COLUMNS / 2; c++) {
        float kept[8];
#pragma unroll
        for (int e = 0; e < 8; e++) {
#if ATTENTION_HALF
            const __half2 here = state.values[c][e / 2], there = state.values[c + COLUMNS / 2][e / 2];
            const float low = e % 2 ? __high2float(here) : __low2float(here);
            const float high = e % 2 ? __high2float(there) : __low2float(there);
#else
            const float low = state.values[c][e], high = state.values[c + COLUMNS / 2][e];
#endif
            kept[e] = __fadd_rn(upper ? high : low, __shfl_xor_sync(EVERY_LANE, upper ? low : high, 16));
        }
        float4 *to = values + (c + (upper ? COLUMNS / 2 : 0)) * 32 + sixteenth;
        to[0] = make_float4(kept[0], kept[1], kept[2], kept[3]);
        to[16] = make_float4(kept[4], kept[5], kept[6], kept[7]);
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const float sum = group_sum<32>(state.sum[c]);
        if (lane == 0)
            scalars[c] = make_float2(state.maximum[c], sum);
    }
}
