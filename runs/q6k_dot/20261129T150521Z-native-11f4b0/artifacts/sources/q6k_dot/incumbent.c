/* The kernel in use: runs of 32 values in their order, each finished before the next begins. */
#include "q6k.h"

void q6k_dot_incumbent(const reportgen_arg *args)
{
    q6k_task task = read_task(args);
    const q6k_block *block = task.weights;
    for (int64_t row = 0; row < task.rows; row++) {
        const int8_t *x = task.activations;
        const float *run_scales = task.run_scales;
        float y = 0;
        for (int64_t b = 0; b < task.blocks; b++, block++) {
            const int8_t *scales = block->scales;
            float sum = 0;
            for (int half = 0; half < 2; half++, scales += 8, x += 128, run_scales += 4) {
                const uint8_t *low = block->low + 64 * half;
                const uint8_t *high = block->high + 32 * half;
                sum += run_scales[0] * (float)run_total(low, 0, high, 0, scales, x);
                sum += run_scales[1] * (float)run_total(low + 32, 0, high, 2, scales + 2, x + 32);
                sum += run_scales[2] * (float)run_total(low, 4, high, 4, scales + 4, x + 64);
                sum += run_scales[3] * (float)run_total(low + 32, 4, high, 6, scales + 6, x + 96);
            }
            y += half_to_float(block->d) * sum;
        }
        task.y[row] = y;
    }
}
