/* The loop most decoders of the format have: one byte of `high` serves four values of a lane, whose four products go to
 * four sums; 16 lanes to one scale multiplication. Pairs are decoded together and scales are hoisted, value by value.
 */
#include "q6k.h"

void q6k_peer_four_lanes(const reportgen_arg *args)
{
    q6k_task task = read_task(args);
    for (int64_t row = 0; row < task.rows; row++) {
        float y = 0;
        for (int64_t b = 0; b < task.blocks; b++) {
            const q6k_block *block = task.weights + row * task.blocks + b;
            float sum = 0;
            for (int half = 0; half < 2; half++) {
                const int8_t *x = task.activations + 256 * b + 128 * half;
                const int8_t *scales = block->scales + 8 * half;
                const uint8_t *low = block->low + 64 * half;
                const uint8_t *high = block->high + 32 * half;
                int32_t totals[4] = {0};
                for (int first = 0; first < RUN; first += 16, scales++) {
                    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
                    for (int lane = first; lane < first + 16; lane++) {
                        int near = low[lane], far = low[lane + 32], top = high[lane];
                        s0 += ((near & 15 | (top & 3) << 4) - 32) * x[lane];
                        s1 += ((far & 15 | (top >> 2 & 3) << 4) - 32) * x[lane + 32];
                        s2 += ((near >> 4 | (top >> 4 & 3) << 4) - 32) * x[lane + 64];
                        s3 += ((far >> 4 | top >> 6 << 4) - 32) * x[lane + 96];
                    }
                    totals[0] += scales[0] * s0;
                    totals[1] += scales[2] * s1;
                    totals[2] += scales[4] * s2;
                    totals[3] += scales[6] * s3;
                }
                for (int run = 0; run < 4; run++)
                    sum += task.run_scales[8 * b + 4 * half + run] * (float)totals[run];
            }
            y += half_to_float(block->d) * sum;
        }
        task.y[row] = y;
    }
}
