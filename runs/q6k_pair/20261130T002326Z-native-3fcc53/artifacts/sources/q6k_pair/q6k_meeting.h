/* A row times the two tokens that meet at its expert, in the four ways of the macros DECODE_ONCE and SIDE_BY_SIDE.
 *
 * Every way does the same float operations in the same order for each row and token. It says what it makes of the two
 * tokens' activations (`pair_x`, by `meet`) and what lanes a row leaves (`pair_lanes`).
 */
#ifndef Q6K_MEETING_H
#define Q6K_MEETING_H

#include "q6k_pair.h"

typedef struct {
    __m256 first, second;
} two_sums;

#if SIDE_BY_SIDE

/* The activations side by side: the first token's in low halves, the second's in high ones; half blocks apart. */
typedef struct {
    x_block front[BLOCKS], back[BLOCKS];
} pair_x;

/* Four folded lanes of the first token, four of the second. */
typedef __m256 pair_lanes;

/* Of `count` vectors of either token: low halves together, high halves together. */
INLINE void interleave(const void *first, const void *second, void *front, void *back, int count)
{
    for (int at = 0; at < 32 * count; at += 32) {
        const __m256i a = load((const char *)first + at), b = load((const char *)second + at);
        _mm256_storeu_si256((void *)((char *)front + at), _mm256_permute2x128_si256(a, b, 0x20));
        _mm256_storeu_si256((void *)((char *)back + at), _mm256_permute2x128_si256(a, b, 0x31));
    }
}

INLINE void meet(pair_x *x, const x_block *first, const x_block *second)
{
    interleave(first, second, x->front, x->back, BLOCKS * (int)sizeof(x_block) / 32);
}

/* The low half of a vector in both halves, and the high half. */
INLINE __m256i low_twice(__m256i vector)
{
    return _mm256_permute4x64_epi64(vector, 0x44);
}

INLINE __m256i high_twice(__m256i vector)
{
    return _mm256_permute4x64_epi64(vector, 0xee);
}

#if DECODE_ONCE

/* 32 codes of each group decoded at once; each half of them is then doubled for the two tokens. */
INLINE two_sums add_run_once(two_sums sums, const group_bytes bytes[2], const __m256i scales[2], const x_block *front,
                             const x_block *back, int run)
{
    const __m256i first = decode(&bytes[0], run), second = decode(&bytes[1], run);
    sums.first = add_run(sums.first, low_twice(first), low_twice(second), scales[0], front, run);
    sums.second = add_run(sums.second, high_twice(first), high_twice(second), scales[1], back, run);
    return sums;
}

INLINE two_sums sum_sides(const q6k_block *block, const __m256i scales[2], const x_block *front, const x_block *back)
{
    const group_bytes bytes[2] = {load_group(block, 0), load_group(block, 1)};
    two_sums sums = {start_sum(scales[0], front), start_sum(scales[1], back)};
    sums = add_run_once(sums, bytes, scales, front, back, 0);
    sums = add_run_once(sums, bytes, scales, front, back, 1);
    sums = add_run_once(sums, bytes, scales, front, back, 2);
    return add_run_once(sums, bytes, scales, front, back, 3);
}

#else

/* 16 bytes of a half block, loaded into both halves of a vector: the lanes of each token decode them for themselves. */
INLINE group_bytes load_side(const q6k_block *block, int half, int group)
{
    const uint8_t *low = block->low + 64 * half + 16 * group;
    return (group_bytes){load_twice(low), load_twice(low + 32), load_twice(block->high + 32 * half + 16 * group)};
}

INLINE two_sums sum_sides(const q6k_block *block, const __m256i scales[2], const x_block *front, const x_block *back)
{
    const group_bytes in_front[2] = {load_side(block, 0, 0), load_side(block, 0, 1)};
    const __m256 first = sum_runs(in_front, scales[0], front);
    const group_bytes in_back[2] = {load_side(block, 1, 0), load_side(block, 1, 1)};
    return (two_sums){first, sum_runs(in_back, scales[1], back)};
}

#endif

INLINE two_sums add_sides(two_sums row, const q6k_block *block, const x_block *front, const x_block *back)
{
    const __m256i scales = widen_scales(block), of_half[2] = {low_twice(scales), high_twice(scales)};
    const two_sums sums = sum_sides(block, of_half, front, back);
    const __m256 d = factor_of(block);
    return (two_sums){_mm256_fmadd_ps(d, sums.first, row.first), _mm256_fmadd_ps(d, sums.second, row.second)};
}

INLINE pair_lanes row_of_pair(const q6k_block *row, const pair_x *x)
{
    two_sums sums = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int b = 0; b < BLOCKS; b++)
        sums = add_sides(sums, row + b, x->front + b, x->back + b);
    return _mm256_add_ps(sums.first, sums.second);
}

#else

typedef struct {
    const x_block *first, *second;
} pair_x;

/* A vector for each token, as `row_of_one` leaves it. */
typedef two_sums pair_lanes;

INLINE void meet(pair_x *x, const x_block *first, const x_block *second)
{
    *x = (pair_x){first, second};
}

#if DECODE_ONCE

/* Codes of one run, decoded once, times both tokens'. */
INLINE two_sums add_run_once(two_sums sums, const group_bytes bytes[2], __m256i scales, const x_block *first,
                             const x_block *second, int run)
{
    const __m256i one = decode(&bytes[0], run), other = decode(&bytes[1], run);
    sums.first = add_run(sums.first, one, other, scales, first, run);
    sums.second = add_run(sums.second, one, other, scales, second, run);
    return sums;
}

INLINE two_sums add_both(two_sums row, const q6k_block *block, const x_block *first, const x_block *second)
{
    const group_bytes bytes[2] = {load_group(block, 0), load_group(block, 1)};
    const __m256i scales = widen_scales(block);
    two_sums sums = {start_sum(scales, first), start_sum(scales, second)};
    sums = add_run_once(sums, bytes, scales, first, second, 0);
    sums = add_run_once(sums, bytes, scales, first, second, 1);
    sums = add_run_once(sums, bytes, scales, first, second, 2);
    sums = add_run_once(sums, bytes, scales, first, second, 3);
    const __m256 d = factor_of(block);
    return (two_sums){_mm256_fmadd_ps(d, sums.first, row.first), _mm256_fmadd_ps(d, sums.second, row.second)};
}

INLINE pair_lanes row_of_pair(const q6k_block *row, const pair_x *x)
{
    two_sums sums = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int b = 0; b < BLOCKS; b++)
        sums = add_both(sums, row + b, x->first + b, x->second + b);
    return sums;
}

#else

/* The row once for each token. That it is the same row is hidden from the compiler, which might keep what it decoded. */
INLINE pair_lanes row_of_pair(const q6k_block *row, const pair_x *x)
{
    const __m256 first = row_of_one(row, x->first);
    __asm__("" : "+r"(row));
    return (two_sums){first, row_of_one(row, x->second)};
}

#endif
#endif
#endif
