/* The format's definition read aloud: one value decoded, multiplied by its activation and its scale, then the next. */
#include "q6k.h"

void q6k_peer_value_by_value(const reportgen_arg *args)
{
    q6k_task task = read_task(args);
    for (int64_t row = 0; row < task.rows; row++) {
        float y = 0;
        for (int64_t b = 0; b < task.blocks; b++) {
            const q6k_block *block = task.weights + row * task.blocks + b;
            float sum = 0;
            for (int run = 0; run < 8; run++) {
                int32_t total = 0;
                for (int lane = 0; lane < RUN; lane++) {
                    int low = block->low[64 * (run / 4) + 32 * (run & 1) + lane] >> (run & 2) * 2 & 15;
                    int high = block->high[32 * (run / 4) + lane] >> 2 * (run & 3) & 3;
                    int value = (low | high << 4) - 32;
                    total += block->scales[2 * run + lane / 16] * value * task.activations[256 * b + RUN * run + lane];
                }
                sum += task.run_scales[8 * b + run] * (float)total;
            }
            y += half_to_float(block->d) * sum;
        }
        task.y[row] = y;
    }
}
