/* What the arms share: the operands, the Q6_K block, its decoding, and the products of a block. README.md tells the design.
 *
 * A vector of 32 codes holds 16 of a run in its low half and, in its high half, 16 of the run that lies half a block on.
 * The two groups of a run, which have scales of their own, so meet in the same lanes: a run's sum takes four lanes and one
 * conversion. The codes of activations arrive in that order, prepared outside the timed operation.
 */
#ifndef Q6K_PAIR_H
#define Q6K_PAIR_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "reportgen_native.h"

/* Whether a helper is inlined must not differ between arms, so it is not left to the compiler. */
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

enum { TOKENS = 2, TOP = 8, SLOTS = TOKENS * TOP, BLOCKS = 2, ROW_BYTES = 420, STEP = 4 };

typedef struct {
    uint8_t low[128];  /* low four bits: byte l of a 64-byte half serves values l and l + 64 of that half */
    uint8_t high[64];  /* high two bits: byte l of a 32-byte half serves values l, l + 32, l + 64, l + 96 */
    int8_t scales[16]; /* one for each group of 16 values */
    uint8_t d[2];      /* IEEE half, little-endian */
} q6k_block;

_Static_assert(sizeof(q6k_block) * BLOCKS == ROW_BYTES, "blocks and rows have no gaps");

/* A slot's activations of one block: codes in eight vectors, -sum of each group of 16, the scale of each run, and for
 * each pair of runs their scales in four lanes each. */
typedef struct {
    int8_t codes[8][32];
    int16_t offsets[16];
    float scales[8];
    float spread[4][8];
} x_block;

/* The arguments of every arm, in the order in which experiment.py passes them. */
typedef struct {
    const uint8_t *weights;
    const int32_t *ids;
    const x_block *x;
    float *y;
    int64_t rows;
} pair_task;

INLINE pair_task read_task(const reportgen_arg *args)
{
    return (pair_task){args[0].p, args[1].p, args[2].p, args[3].p, args[4].i};
}

INLINE const q6k_block *expert_of(const pair_task *task, int slot)
{
    return (const q6k_block *)(task->weights + task->ids[slot] * task->rows * ROW_BYTES);
}

INLINE __m256i load(const void *bytes)
{
    return _mm256_loadu_si256(bytes);
}

/* 16 bytes in both halves: a load, no shuffle. */
INLINE __m256i load_twice(const void *bytes)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes));
}

/* 16 bytes of each place. */
INLINE __m256i load_both(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
}

INLINE __m256 factor_of(const q6k_block *block)
{
    uint16_t half;
    memcpy(&half, block->d, sizeof half);
    return _mm256_set1_ps(_cvtsh_ss(half));
}

/* The 16 scales, read once and widened: eight of each half block. */
INLINE __m256i widen_scales(const q6k_block *block)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)block->scales));
}

/* Scale `place` of each half in all places of that half. */
INLINE __m256i pick_scale(__m256i scales, int place)
{
    return _mm256_shuffle_epi8(scales, _mm256_set1_epi16((short)(2 * place | (2 * place + 1) << 8)));
}

/* The bytes of a group of all four runs of each half block: low bits of runs 0 and 2, of runs 1 and 3, high bits. */
typedef struct {
    __m256i even, odd, high;
} group_bytes;

INLINE group_bytes load_group(const q6k_block *block, int group)
{
    const uint8_t *low = block->low + 16 * group, *high = block->high + 16 * group;
    return (group_bytes){load_both(low, low + 64), load_both(low + 32, low + 96), load_both(high, high + 32)};
}

/* Codes 0 .. 63 of run `run`, a constant once this is inlined. */
INLINE __m256i decode(const group_bytes *bytes, int run)
{
    const __m256i pair = run & 1 ? bytes->odd : bytes->even;
    const __m256i low = run & 2 ? _mm256_srli_epi16(pair, 4) : pair;
    const __m256i high = run < 2 ? _mm256_slli_epi16(bytes->high, 4 - 2 * run) : _mm256_srli_epi16(bytes->high, 2 * run - 4);
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi8(0x0f)), _mm256_and_si256(high, _mm256_set1_epi8(0x30)));
}

/* 32 products, scaled: eight exact sums of four. */
INLINE __m256i products(__m256i codes, __m256i scales, const int8_t *x)
{
    return _mm256_madd_epi16(_mm256_maddubs_epi16(codes, load(x)), scales);
}

/* What the codes' offset of 32 takes away: a lane for each run. Below 2^24, so exact as a float. */
INLINE __m256 start_sum(__m256i scales, const x_block *x)
{
    const __m256i offsets = _mm256_slli_epi32(_mm256_madd_epi16(scales, load(x->offsets)), 5);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(offsets), _mm256_loadu_ps(x->scales));
}

/* Codes of both groups of run `run` of each half block times a token's, and the run's scale. Below 2^24 in each lane. */
INLINE __m256 add_run(__m256 sum, __m256i first, __m256i second, __m256i scales, const x_block *x, int run)
{
    const __m256i one = products(first, pick_scale(scales, 2 * run), x->codes[2 * run]);
    const __m256i other = products(second, pick_scale(scales, 2 * run + 1), x->codes[2 * run + 1]);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(one, other)), _mm256_loadu_ps(x->spread[run]), sum);
}

INLINE __m256 decode_and_add(__m256 sum, const group_bytes bytes[2], __m256i scales, const x_block *x, int run)
{
    return add_run(sum, decode(&bytes[0], run), decode(&bytes[1], run), scales, x, run);
}

/* The bytes of both groups times one token's activations. */
INLINE __m256 sum_runs(const group_bytes bytes[2], __m256i scales, const x_block *x)
{
    __m256 sum = start_sum(scales, x);
    sum = decode_and_add(sum, bytes, scales, x, 0);
    sum = decode_and_add(sum, bytes, scales, x, 1);
    sum = decode_and_add(sum, bytes, scales, x, 2);
    return decode_and_add(sum, bytes, scales, x, 3);
}

/* A block times one token's activations. */
INLINE __m256 add_block(__m256 row, const q6k_block *block, const x_block *x)
{
    const group_bytes bytes[2] = {load_group(block, 0), load_group(block, 1)};
    return _mm256_fmadd_ps(factor_of(block), sum_runs(bytes, widen_scales(block), x), row);
}

/* A row times one token: sums of first halves in the four low lanes, of second halves in the high ones. */
INLINE __m256 row_of_one(const q6k_block *row, const x_block *x)
{
    __m256 sum = _mm256_setzero_ps();
    for (int b = 0; b < BLOCKS; b++)
        sum = add_block(sum, row + b, x + b);
    return sum;
}

#endif
