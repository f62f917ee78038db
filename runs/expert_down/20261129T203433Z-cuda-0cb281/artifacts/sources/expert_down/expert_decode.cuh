// A lane's share of a row: a quarter of each of its two Q6_K blocks, decoded and multiplied.
//
// Lane q = 2 h + i of a row's four has, of each block, the 64 weights 128 h + 32 g + 16 i + (0 .. 15), g = 0 .. 3: 16 bytes of low bits for g = 0
// (their upper halves for g = 2), 16 for g = 1 (and 3), 16 bytes of high bits for all four, and scale 8 h + 2 g + i for each g.

#pragma once

#include "expert_common.cuh"

// Activations of one slot, half of a row and lane, as the products take them: word j of each group, -32 times the groups' sums, scales.
struct lane_x {
    int4 codes[4];
    int4 start;
    float4 scales;
};

struct block_x {
    lane_x part[SLOTS][2][LANES_A_ROW];
};

// Lane 16 b + 8 h + 2 g + i of a slot's warp lays the group that it holds where it is wanted.
static __device__ __forceinline__ void stage_x(block_x &to, int slot, const int4 &codes, __half scale)
{
    const int lane = threadIdx.x % 32, g = lane >> 1 & 3;
    lane_x &part = to.part[slot][lane >> 4][lane >> 2 & 2 | lane & 1];
    int sum = __dp4a(codes.x, 0x01010101, 0);
    sum = __dp4a(codes.y, 0x01010101, sum);
    sum = __dp4a(codes.z, 0x01010101, sum);
    sum = __dp4a(codes.w, 0x01010101, sum);
    ((int *)&part.codes[0])[g] = codes.x;
    ((int *)&part.codes[1])[g] = codes.y;
    ((int *)&part.codes[2])[g] = codes.z;
    ((int *)&part.codes[3])[g] = codes.w;
    ((int *)&part.start)[g] = -32 * sum;
    ((float *)&part.scales)[g] = __half2float(scale);
}

// What a lane needs of a block: words of low bits for g = 0 and 2, for g = 1 and 3, of high bits; scales; the block's factor.
struct lane_block {
    unsigned even[4], odd[4], high[4];
    int scales[4];
    float d;
};

// Byte `select % 8` of a word, its sign in the other three. (__byte_perm would drop the bit that asks for the sign.)
static __device__ __forceinline__ int signed_byte(unsigned word, unsigned select)
{
    int value;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(value) : "r"(word), "r"(select));
    return value;
}

// A row's second block begins two bytes into a word: every word is put together from two.
static __device__ __forceinline__ void align(unsigned (&words)[4], unsigned fifth)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = __byte_perm(words[j], j < 3 ? words[j + 1] : fifth, 0x5432);
}

// Scales 4 h .. 4 h + 7 of the block as two words, its factor, and the fifth word of high bits: read by the lane itself.
template <int BLOCK>
static __device__ __forceinline__ void own_metadata(const unsigned *block, int q, unsigned (&scales)[2], unsigned short &d, unsigned &fifth)
{
    const unsigned *words = block + 48 + (q & 2);
    scales[0] = words[0];
    scales[1] = words[1];
    if (BLOCK == 1) {
        scales[0] = __byte_perm(scales[0], scales[1], 0x5432);
        scales[1] = __byte_perm(scales[1], words[2], 0x5432);
        fifth = block[36 + 4 * q];
    }
    d = ((const unsigned short *)(block + 52))[BLOCK];
}

// The same from the lanes of the row: each reads one word of scales, one the factor, and high bits come from the next lane.
template <int BLOCK>
static __device__ __forceinline__ void shared_metadata(const unsigned *block, int q, unsigned first, unsigned (&scales)[2], unsigned short &d,
                                                       unsigned &fifth)
{
    unsigned word = block[48 + q], factor = 0;
    if (BLOCK == 0) {
        if (q == 0)
            factor = block[52];
        factor = __shfl_sync(EVERY_LANE, factor, 0, LANES_A_ROW);
    } else {
        const unsigned next = block[49 + q];
        fifth = __shfl_sync(EVERY_LANE, q == 0 ? word : first, q + 1 & 3, LANES_A_ROW);
        factor = __shfl_sync(EVERY_LANE, next, 3, LANES_A_ROW) >> 16;
        word = __byte_perm(word, next, 0x5432);
    }
    scales[0] = __shfl_sync(EVERY_LANE, word, q & 2, LANES_A_ROW);
    scales[1] = __shfl_sync(EVERY_LANE, word, q & 2 | 1, LANES_A_ROW);
    d = (unsigned short)factor;
}

template <int BLOCK> static __device__ __forceinline__ void load_block(lane_block &to, const unsigned char *row, int q)
{
    const unsigned *block = (const unsigned *)row + 52 * BLOCK, *low = block + 4 * q + 4 * (q & 2), *high = block + 32 + 4 * q;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        to.even[j] = low[j];
        to.odd[j] = low[8 + j];
        to.high[j] = high[j];
    }
    unsigned scales[2], fifth = 0;
    unsigned short d;
#if SHARED_METADATA
    shared_metadata<BLOCK>(block, q, to.high[0], scales, d, fifth);
#else
    own_metadata<BLOCK>(block, q, scales, d, fifth);
#endif
    if (BLOCK == 1) {
        align(to.even, low[4]);
        align(to.odd, low[12]);
        align(to.high, fifth);
    }
    const unsigned lower = q & 1 ? 0x9991u : 0x8880u, upper = q & 1 ? 0xBBB3u : 0xAAA2u;
    to.scales[0] = signed_byte(scales[0], lower);
    to.scales[1] = signed_byte(scales[0], upper);
    to.scales[2] = signed_byte(scales[1], lower);
    to.scales[3] = signed_byte(scales[1], upper);
    to.d = __half2float(__ushort_as_half(d));
}

// Four codes 0 .. 63 of group g.
static __device__ __forceinline__ int codes_of(const lane_block &block, int g, int j)
{
    const unsigned word = g & 1 ? block.odd[j] : block.even[j], low = g < 2 ? word : word >> 4;
    const unsigned high = g < 2 ? block.high[j] << (4 - 2 * g) : block.high[j] >> (2 * g - 4);
    return (int)(low & 0x0F0F0F0Fu | high & 0x30303030u);
}

// Add a block's share of the row for each of TOKENS slots; the block is decoded once for them.
template <int TOKENS>
static __device__ __forceinline__ void add_block(float (&sums)[TOKENS], const lane_block &block, const lane_x *const (&x)[TOKENS])
{
    int4 totals[TOKENS];
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        totals[t] = x[t]->start;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int4 codes[TOKENS];
#pragma unroll
        for (int t = 0; t < TOKENS; t++)
            codes[t] = x[t]->codes[j];
#pragma unroll
        for (int g = 0; g < 4; g++) {
            const int weights = codes_of(block, g, j);
#pragma unroll
            for (int t = 0; t < TOKENS; t++)
                ((int *)&totals[t])[g] = __dp4a(weights, ((const int *)&codes[t])[g], ((const int *)&totals[t])[g]);
        }
    }
#pragma unroll
    for (int t = 0; t < TOKENS; t++) {
        const float4 scales = x[t]->scales;
        float sum = 0;
#pragma unroll
        for (int g = 0; g < 4; g++)  // below 2^24, so exact as a float
            sum = __fmaf_rn((float)(((const int *)&totals[t])[g] * block.scales[g]), ((const float *)&scales)[g], sum);
        sums[t] = __fmaf_rn(block.d, sum, sums[t]);
    }
}
