/* How the lanes of a row become one float for each token, in the two ways of the macro SUMS_TOGETHER. Both add lanes in
 * one order: (l + l[4]), then (l + l[2]), then (l + l[1]).
 */
#ifndef Q6K_FINISH_H
#define Q6K_FINISH_H

#include "q6k_meeting.h"

#if SUMS_TOGETHER

/* Lanes l + l[2] of two rows, in each half: two lanes of `first`, then two of `second`. */
INLINE __m256 halve(__m256 first, __m256 second)
{
    const __m256d a = _mm256_castps_pd(first), b = _mm256_castps_pd(second);
    return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
}

/* Lanes l + l[4] of two rows, a half each. */
INLINE __m256 fold_two(__m256 first, __m256 second)
{
    return _mm256_add_ps(_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31));
}

/* Two lanes of each of four rows: rows 0 and 1 in the low half, 2 and 3 in the high one. */
INLINE __m256 halve_four(__m256 a, __m256 b, __m256 c, __m256 d)
{
    return halve(fold_two(a, c), fold_two(b, d));
}

/* Four sums of one token. */
INLINE void finish_four(const __m256 rows[STEP], float *y)
{
    const __m256 lanes = halve_four(rows[0], rows[1], rows[2], rows[3]);
    const __m256d sums = _mm256_castps_pd(_mm256_hadd_ps(lanes, lanes));
    _mm_storeu_ps(y, _mm256_castps256_ps128(_mm256_castpd_ps(_mm256_permute4x64_pd(sums, 0x08))));
}

/* Eight sums, four of each token, by one last addition. */
INLINE void finish_four_pairs(const pair_lanes rows[STEP], float *y, float *other_y)
{
#if SIDE_BY_SIDE
    const __m256 sums = _mm256_hadd_ps(halve(rows[0], rows[1]), halve(rows[2], rows[3]));
#else
    const __m256 first = halve_four(rows[0].first, rows[1].first, rows[2].first, rows[3].first);
    const __m256 second = halve_four(rows[0].second, rows[1].second, rows[2].second, rows[3].second);
    const __m256d mixed = _mm256_castps_pd(_mm256_hadd_ps(first, second));
    const __m256 sums = _mm256_castpd_ps(_mm256_permute4x64_pd(mixed, 0xd8));
#endif
    _mm_storeu_ps(y, _mm256_castps256_ps128(sums));
    _mm_storeu_ps(other_y, _mm256_extractf128_ps(sums, 1));
}

#else

/* A sum that ends at lane zero, which alone is stored. */
INLINE void finish_lanes(__m128 lanes, float *y)
{
    lanes = _mm_add_ps(lanes, _mm_movehl_ps(lanes, lanes));
    _mm_store_ss(y, _mm_add_ss(lanes, _mm_movehdup_ps(lanes)));
}

INLINE void finish(__m256 row, float *y)
{
    finish_lanes(_mm_add_ps(_mm256_castps256_ps128(row), _mm256_extractf128_ps(row, 1)), y);
}

INLINE void finish_pair(pair_lanes row, float *y, float *other_y)
{
#if SIDE_BY_SIDE
    finish_lanes(_mm256_castps256_ps128(row), y);
    finish_lanes(_mm256_extractf128_ps(row, 1), other_y);
#else
    finish(row.first, y);
    finish(row.second, other_y);
#endif
}

#endif
#endif
