/* Both ideas: pairs come from one load, and 16 products are summed before their one multiplication by a scale. */
#include "q6k.h"

INLINE void pair_totals(const uint8_t *low, const uint8_t *high, int high_shift, const int8_t *scales, const int8_t *x,
                        int32_t *totals)
{
    int32_t first = 0;
    int32_t second = 0;
    for (int i = 0; i < RUN; i += 16, scales++) {
        int32_t a, b, c, d;
        dot_eight_pairs(low + i, high + i, high_shift, x + i, &a, &b);
        dot_eight_pairs(low + i + 8, high + i + 8, high_shift, x + i + 8, &c, &d);
        first += scales[0] * (hide(a) + c);
        second += scales[4] * (hide(b) + d);
    }
    totals[0] = first;
    totals[2] = second;
}

#include "pair_walk.h"

void q6k_dot_both(const reportgen_arg *args)
{
    walk_pairs(args);
}
