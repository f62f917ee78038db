/* A block unpacked to 256 bytes, four values of a lane at a time, then a plain int8 dot product with hoisted scales. */
#include "q6k.h"

static void unpack(const q6k_block *block, int8_t *values)
{
    for (int half = 0; half < 2; half++, values += 128) {
        const uint8_t *low = block->low + 64 * half;
        const uint8_t *high = block->high + 32 * half;
        for (int lane = 0; lane < RUN; lane++) {
            values[lane] = (int8_t)(((low[lane] & 15) | (high[lane] & 3) << 4) - 32);
            values[lane + 32] = (int8_t)(((low[lane + 32] & 15) | (high[lane] >> 2 & 3) << 4) - 32);
            values[lane + 64] = (int8_t)((low[lane] >> 4 | (high[lane] >> 4 & 3) << 4) - 32);
            values[lane + 96] = (int8_t)((low[lane + 32] >> 4 | (high[lane] >> 6) << 4) - 32);
        }
    }
}

void q6k_peer_unpack_first(const reportgen_arg *args)
{
    q6k_task task = read_task(args);
    int8_t values[256];
    for (int64_t row = 0; row < task.rows; row++) {
        float y = 0;
        for (int64_t b = 0; b < task.blocks; b++) {
            const q6k_block *block = task.weights + row * task.blocks + b;
            const int8_t *x = task.activations + 256 * b;
            float sum = 0;
            unpack(block, values);
            for (int run = 0; run < 8; run++) {
                int32_t total = 0;
                for (int sixteen = 2 * run; sixteen < 2 * run + 2; sixteen++) {
                    int32_t products = 0;
                    for (int i = 16 * sixteen; i < 16 * sixteen + 16; i++)
                        products += values[i] * x[i];
                    total += block->scales[sixteen] * products;
                }
                sum += task.run_scales[8 * b + run] * (float)total;
            }
            y += half_to_float(block->d) * sum;
        }
        task.y[row] = y;
    }
}
