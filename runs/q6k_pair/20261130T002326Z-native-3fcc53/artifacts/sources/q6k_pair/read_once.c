/* A ceiling: the bytes of every expert that is named are read once, and outputs are written; nothing is decoded or
 * multiplied. No way of sharing can take less.
 */
#include "q6k_pair.h"

enum { PIECE = 4 * 32 };

INLINE __m256i read_all(const uint8_t *bytes, int64_t count)
{
    __m256i sums[4] = {load(bytes), load(bytes + 32), load(bytes + 64), load(bytes + 96)};
    for (int64_t i = PIECE; i < count; i += PIECE) {
        sums[0] = _mm256_add_epi64(sums[0], load(bytes + i));
        sums[1] = _mm256_add_epi64(sums[1], load(bytes + i + 32));
        sums[2] = _mm256_add_epi64(sums[2], load(bytes + i + 64));
        sums[3] = _mm256_add_epi64(sums[3], load(bytes + i + 96));
    }
    return _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
}

INLINE int is_named_before(const int32_t *ids, int slot)
{
    for (int k = 0; k < slot; k++)
        if (ids[k] == ids[slot])
            return 1;
    return 0;
}

void q6k_pair_read_once(const reportgen_arg *args)
{
    const pair_task task = read_task(args);
    __m256i sum = _mm256_setzero_si256();
    for (int slot = 0; slot < SLOTS; slot++) {
        if (task.ids[slot] >= 0 && !is_named_before(task.ids, slot))
            sum = _mm256_add_epi64(sum, read_all((const uint8_t *)expert_of(&task, slot), task.rows * ROW_BYTES));
        for (int64_t r = 0; r < task.rows; r += 8)
            _mm256_storeu_si256((void *)(task.y + slot * task.rows + r), sum);
    }
}
