/* Scale hoisting: the 16 products that share a scale are summed first and multiplied by it once. */
#include "q6k.h"

INLINE int32_t hoisted_run_total(const uint8_t *low, int low_shift, const uint8_t *high, int high_shift,
                                 const int8_t *scales, const int8_t *x)
{
    int32_t total = 0;
    for (int i = 0; i < RUN; i += 16, scales++) {
        int32_t sum = hide(dot_eight_at(low + i, low_shift, high + i, high_shift, x + i));
        sum += dot_eight_at(low + i + 8, low_shift, high + i + 8, high_shift, x + i + 8);
        total += *scales * sum;
    }
    return total;
}

INLINE void pair_totals(const uint8_t *low, const uint8_t *high, int high_shift, const int8_t *scales, const int8_t *x,
                        int32_t *totals)
{
    totals[0] = hoisted_run_total(low, 0, high, high_shift, scales, x);
    totals[2] = hoisted_run_total(low, 4, high, high_shift + 4, scales + 4, x + 64);
}

#include "pair_walk.h"

void q6k_dot_scale_hoist(const reportgen_arg *args)
{
    walk_pairs(args);
}
