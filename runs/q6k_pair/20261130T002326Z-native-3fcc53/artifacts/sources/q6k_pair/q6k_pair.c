/* Two tokens over the Q6_K experts that they name: every arm but the ceiling and the floor, by its macros.
 *
 * GROUPED: where both tokens name an expert its rows are walked once for both; otherwise every slot is walked by itself.
 * DECODE_ONCE, SIDE_BY_SIDE and SUMS_TOGETHER are the ideas. SYMBOL is the entry point.
 */
#include "q6k_finish.h"

/* An expert for one token: the same function in all arms that finish rows alike. */
APART void walk_one(const q6k_block *row, const x_block *x, float *y, int64_t rows)
{
    for (int64_t r = 0; r < rows; r += STEP, y += STEP) {
#if SUMS_TOGETHER
        __m256 sums[STEP];
        for (int k = 0; k < STEP; k++, row += BLOCKS)
            sums[k] = row_of_one(row, x);
        finish_four(sums, y);
#else
        for (int k = 0; k < STEP; k++, row += BLOCKS)
            finish(row_of_one(row, x), y + k);
#endif
    }
}

#if GROUPED

/* An expert for the two tokens that named it. */
APART void walk_two(const q6k_block *row, const x_block *first, const x_block *second, float *y, float *other_y,
                    int64_t rows)
{
    pair_x x;
    meet(&x, first, second);
    for (int64_t r = 0; r < rows; r += STEP, y += STEP, other_y += STEP) {
#if SUMS_TOGETHER
        pair_lanes sums[STEP];
        for (int k = 0; k < STEP; k++, row += BLOCKS)
            sums[k] = row_of_pair(row, &x);
        finish_four_pairs(sums, y, other_y);
#else
        for (int k = 0; k < STEP; k++, row += BLOCKS)
            finish_pair(row_of_pair(row, &x), y + k, other_y + k);
#endif
    }
}

/* The other token's slot that names the expert of `slot`, or -1. */
INLINE int partner_of(const pair_task *task, int slot)
{
    const int other = slot < TOP ? TOP : 0;
    for (int k = other; k < other + TOP; k++)
        if (task->ids[k] == task->ids[slot])
            return k;
    return -1;
}

#endif

/* One slot: its own rows of outputs and, where it is the first of a pair, the other token's. */
INLINE void project(const pair_task *task, int slot)
{
    float *y = task->y + slot * task->rows;
    const x_block *x = task->x + slot * BLOCKS;
    if (task->ids[slot] < 0) {
        memset(y, 0, (size_t)task->rows * sizeof *y);
        return;
    }
#if GROUPED
    const int other = partner_of(task, slot);
    if (other >= 0 && other < slot)
        return;
    if (other >= 0) {
        walk_two(expert_of(task, slot), x, task->x + other * BLOCKS, y, task->y + other * task->rows, task->rows);
        return;
    }
#endif
    walk_one(expert_of(task, slot), x, y, task->rows);
}

void SYMBOL(const reportgen_arg *args)
{
    const pair_task task = read_task(args);
    for (int slot = 0; slot < SLOTS; slot++)
        project(&task, slot);
}
