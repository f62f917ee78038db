/* What the arms share: the Q6_K block, its decoding eight values at a time, and the order of the float sums.
 *
 * A row is `blocks` Q6_K blocks of 256 values. The activations are int8 in runs of 32 with one float scale each.
 * y[row] = sum over blocks of d * (sum over the block's 8 runs of run_scale * T), T the run's exact integer sum
 * of scale * weight * activation. |T| <= 32 * 128 * 32 * 127 < 2^24, so its conversion to float is exact and every
 * order of integer arithmetic gives the same bits.
 */
#ifndef Q6K_H
#define Q6K_H

#include <stdint.h>
#include <string.h>

#include "reportgen_native.h"

/* Whether a helper is inlined must not differ between arms, so it is not left to the compiler. */
#define INLINE static inline __attribute__((always_inline))

enum { RUN = 32 };

typedef struct {
    uint8_t low[128];   /* low four bits: byte l of a 64-byte half serves values l and l + 64 of that half */
    uint8_t high[64];   /* high two bits: byte l of a 32-byte half serves values l, l + 32, l + 64, l + 96 */
    int8_t scales[16];  /* one for 16 values */
    uint8_t d[2];       /* IEEE half, little-endian, finite */
} q6k_block;

_Static_assert(sizeof(q6k_block) == 210, "Q6_K blocks lie 210 bytes apart");

/* The arguments of every arm, in the order in which experiment.py passes them. */
typedef struct {
    const q6k_block *weights;
    const int8_t *activations;
    const float *run_scales;
    float *y;
    int64_t rows;
    int64_t blocks;
} q6k_task;

INLINE q6k_task read_task(const reportgen_arg *args)
{
    return (q6k_task){args[0].p, args[1].p, args[2].p, args[3].p, args[4].i, args[5].i};
}

/* A half's exponent and fraction, moved to a float's place, are 2^112 too small; the product is exact. */
INLINE float half_to_float(const uint8_t bytes[2])
{
    uint32_t half = bytes[0] | (uint32_t)bytes[1] << 8;
    uint32_t bits = (half & 0x8000u) << 16 | (half & 0x7fffu) << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value * 0x1p112f;
}

INLINE uint64_t load_eight(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Eight signed weights, one a byte, from words whose bytes end in the four low and the two high bits. Setting the
 * top bit before subtracting 32 keeps bytes from borrowing of each other. */
INLINE uint64_t decode_eight(uint64_t low, uint64_t high)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t code = (low & 0x0f * each) | (high & 0x03 * each) << 4;
    return ((code | 0x80 * each) - 0x20 * each) ^ 0x80 * each;
}

INLINE int32_t dot_eight(uint64_t weights, const int8_t *x)
{
    int8_t w[8];
    memcpy(w, &weights, sizeof w);
    return w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3]
         + w[4] * x[4] + w[5] * x[5] + w[6] * x[6] + w[7] * x[7];
}

/* Eight products summed: the weights whose low bits lie at `low` above bit `low_shift` of each byte. */
INLINE int32_t dot_eight_at(const uint8_t *low, int low_shift, const uint8_t *high, int high_shift, const int8_t *x)
{
    return dot_eight(decode_eight(load_eight(low) >> low_shift, load_eight(high) >> high_shift), x);
}

/* The value, its origin hidden from the compiler at no cost. Without it Clang turns a * b + a * c into a * (b + c), and
 * with that every arm into scale_hoist. All arms hide one sum for 16 products of a run.
 */
INLINE int32_t hide(int32_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* The integer total of a run: every sum of eight products multiplied by its scale. */
INLINE int32_t run_total(const uint8_t *low, int low_shift, const uint8_t *high, int high_shift, const int8_t *scales,
                         const int8_t *x)
{
    int32_t total = 0;
    for (int i = 0; i < RUN; i += 16, scales++) {
        total = hide(total + *scales * dot_eight_at(low + i, low_shift, high + i, high_shift, x + i));
        total += *scales * dot_eight_at(low + i + 8, low_shift, high + i + 8, high_shift, x + i + 8);
    }
    return total;
}

/* Eight products of run n and eight of run n + 2 of a half from one load of the bytes that hold both. */
INLINE void dot_eight_pairs(const uint8_t *low, const uint8_t *high, int high_shift, const int8_t *x, int32_t *first,
                            int32_t *second)
{
    uint64_t low_bits = load_eight(low);
    uint64_t high_bits = load_eight(high) >> high_shift;
    *first = dot_eight(decode_eight(low_bits, high_bits), x);
    *second = dot_eight(decode_eight(low_bits >> 4, high_bits >> 4), x + 64);
}

#endif
