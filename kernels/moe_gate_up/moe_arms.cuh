// One entry point for each format and number of row tiles: NAME_<format>_<rows>; Q6_K with 24 rows is NAME itself, or IQ2_XS where it is alone.

#pragma once

#include "moe_gate_up.cuh"

#define ENTRY(SYMBOL, FORMAT, TILES) \
    extern "C" __global__ void __launch_bounds__(THREADS, TILES < 5 ? 3 : 2) \
        SYMBOL(const byte *weights, const __half *x, const int *tokens, const int *offsets, float *y, int columns, int shared_bytes) \
    { \
        moe_gate_up<FORMAT, TILES>({weights, x, tokens, offsets, y, columns}, shared_bytes); \
    }

#ifndef MOST_ROWS
#define MOST_ROWS 56  // a plan whose experts never have more than 40 rows spares itself the compiling
#endif
#if MOST_ROWS > 40
#define WIDEST(NAME, SUFFIX, FORMAT) ENTRY(NAME##_##SUFFIX##_56, FORMAT, 7)
#else
#define WIDEST(NAME, SUFFIX, FORMAT)
#endif

#define WIDTHS(NAME, SUFFIX, FORMAT) \
    ENTRY(NAME##_##SUFFIX##_32, FORMAT, 4) \
    ENTRY(NAME##_##SUFFIX##_40, FORMAT, 5) \
    WIDEST(NAME, SUFFIX, FORMAT)

#define ARM_Q6_K(NAME) ENTRY(NAME, Q6_K, 3) WIDTHS(NAME, q6_k, Q6_K)
#define ARM_IQ2_XS(NAME) ENTRY(NAME##_iq2_xs_24, IQ2_XS, 3) WIDTHS(NAME, iq2_xs, IQ2_XS)

#define ARM_IQ2_XS_ALONE(NAME) ENTRY(NAME, IQ2_XS, 3) WIDTHS(NAME, iq2_xs, IQ2_XS)

#define EVERY_WIDTH(NAME, SUFFIX, FORMAT) ENTRY(NAME##_##SUFFIX##_24, FORMAT, 3) WIDTHS(NAME, SUFFIX, FORMAT)
#define ARM(NAME) \
    ARM_Q6_K(NAME) \
    ARM_IQ2_XS(NAME) \
    EVERY_WIDTH(NAME, q4_k, Q4_K) \
    EVERY_WIDTH(NAME, q5_k, Q5_K) \
    EVERY_WIDTH(NAME, q8_0, Q8_0) \
    EVERY_WIDTH(NAME, q2_0, Q2_0) \
    EVERY_WIDTH(NAME, q2_k, Q2_K) \
    EVERY_WIDTH(NAME, iq4_xs, IQ4_XS) \
    EVERY_WIDTH(NAME, iq3_xxs, IQ3_XXS) \
    EVERY_WIDTH(NAME, iq3_s, IQ3_S) \
    EVERY_WIDTH(NAME, iq2_xxs, IQ2_XXS) \
    EVERY_WIDTH(NAME, iq2_s, IQ2_S)
