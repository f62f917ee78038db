/* The walk of the candidates without an idea: the two runs that share bytes of `low` one after the other, each decoded
 * by itself, every sum of eight products multiplied by its scale. */
#include "q6k.h"

INLINE void pair_totals(const uint8_t *low, const uint8_t *high, int high_shift, const int8_t *scales, const int8_t *x,
                        int32_t *totals)
{
    totals[0] = run_total(low, 0, high, high_shift, scales, x);
    totals[2] = run_total(low, 4, high, high_shift + 4, scales + 4, x + 64);
}

#include "pair_walk.h"

void q6k_dot_control(const reportgen_arg *args)
{
    walk_pairs(args);
}
