/* The candidates' walk, shared with their control, so that an arm's file holds its idea and nothing else. An arm
 * defines pair_totals, which puts the integer totals of runs n and n + 2 of a half block, the two that share bytes
 * of `low`, into totals[0] and totals[2]; then it includes this file.
 */
INLINE void walk_pairs(const reportgen_arg *args)
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
                int32_t totals[4];
                pair_totals(low, high, 0, scales, x, totals);
                pair_totals(low + 32, high, 2, scales + 2, x + 32, totals + 1);
                sum += run_scales[0] * (float)totals[0]; /* in the order of the values, as the incumbent adds them */
                sum += run_scales[1] * (float)totals[1];
                sum += run_scales[2] * (float)totals[2];
                sum += run_scales[3] * (float)totals[3];
            }
            y += half_to_float(block->d) * sum;
        }
        task.y[row] = y;
    }
}
