// Decode attention over K and V in Q8_0 blocks, one block of threads for one KV head and one split of the rows. README.md tells the design.
//
// An arm's source defines ATTENTION_HALF, ROOT_REDUCTIONS and EXP_BROADCAST (0 or 1) before it includes this file.

#include <cuda_fp16.h>

constexpr int WIDTH = 128, Q8_BLOCKS = 4, ROW_BYTES = 136;
constexpr int MOST_COLUMNS = 8;  // query heads of a KV head, times queries
constexpr int KV_HEADS = 8, GROUP = 4, HEADS = KV_HEADS * GROUP;
constexpr int WARPS = 16, THREADS = 32 * WARPS, MOST_SPLITS = 16;
constexpr int TILE_ROWS = 32, TILE_BYTES = TILE_ROWS * ROW_BYTES, PASSES = 4;
constexpr int LANES_A_ROW = 4;                              // one Q8_0 block of a K row for each lane
constexpr int PASS_ROWS = 32 / LANES_A_ROW;                 // K rows that a warp multiplies at a time
constexpr int PADDED_SCORES = TILE_ROWS * 4 + PASSES * 8;   // four columns' scores, eight rows apart by 32 bytes more
constexpr int TICKET_WORDS = 32;                            // a line of the cache for each ticket: atomics on one line queue up
constexpr unsigned EVERY_LANE = 0xFFFFFFFFu;
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
constexpr float SCORE_SCALE = 0.08838834764831845f * LOG2_E;  // 1 / sqrt(128), scores being powers of two
constexpr float NO_MAXIMUM = -1e30f;                          // finite, so that a row of -inf gives 0 and not NaN
constexpr float INTEGER_FLOAT = 12582912.0f;                  // 1.5 * 2^23: the bits of this float plus n are those of it + n
constexpr int INTEGER_BITS = 0x4B400000;

struct attention_task {
    const unsigned char *k, *v;
    const __half *q, *mask;
    float *out, *accumulated, *maxima, *sums;
    float4 *split_values;
    float2 *split_scalars;
    unsigned *tickets;
    int tiles, rows, queries, partitions;  // `tiles` of 32 rows for each block, at most one for each warp
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ unsigned shared_place(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void copy_tile(void *to, const unsigned char *from, unsigned long long *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_place(arrived)), "r"(TILE_BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)),
                 "l"(from), "r"(TILE_BYTES), "r"(shared_place(arrived))
                 : "memory");
}

static __device__ __forceinline__ void wait_for(unsigned long long *arrived)
{
    unsigned done;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_place(arrived))
                     : "memory");
    while (!done);
}

// Where a lane's values begin in the eight-byte words that it loads: those of block b lie 2 (b + 1) bytes further.
struct block_place {
    bool late;
    unsigned values, scale;
};

static __device__ __forceinline__ block_place place_of_block(int b)
{
    const unsigned values = b == 0 ? 0x5432u : b == 1 ? 0x7654u : b == 2 ? 0x1076u : 0x3210u;
    return {b >= 2, values, 0x1010u + 0x2222u * b};
}

// Four values, from three words of which the second is always among those needed.
static __device__ __forceinline__ unsigned aligned(const block_place &place, unsigned one, unsigned two, unsigned three)
{
    return __byte_perm(place.late ? three : one, two, place.values);
}

// Sum over the LANES lanes of a group: in every lane, or in the group's first.
template <int LANES> static __device__ __forceinline__ float group_sum(float x)
{
#pragma unroll
    for (int step = LANES == 32 ? 16 : 1; step > 0 && step < LANES; step = LANES == 32 ? step / 2 : step * 2)
#if ROOT_REDUCTIONS
        x = __fadd_rn(x, __shfl_down_sync(EVERY_LANE, x, step));
#else
        x = __fadd_rn(x, __shfl_xor_sync(EVERY_LANE, x, step));
#endif
    return x;
}

static __device__ __forceinline__ float warp_maximum(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(EVERY_LANE, x, step));
    return x;
}

// What a warp makes of its tile: for each column the maximum, the lane's share of the sum of weights and, unnormalised, eight
// values of every second row.
template <int COLUMNS> struct tile_state {
    float maximum[COLUMNS], sum[COLUMNS];
#if ATTENTION_HALF
    __half2 values[COLUMNS][4];
#else
    float values[COLUMNS][8];
#endif
};

// Quantise Q as the format does, a warp for a column: codes of 4 values a word [column][32], and scale * SCORE_SCALE [column][4].
static __device__ __forceinline__ void quantise_q(const uint2 &raw, int column, unsigned *codes, float *scales)
{
    const int lane = threadIdx.x % 32;
    const float2 low = __half22float2(*(const __half2 *)&raw.x), high = __half22float2(*(const __half2 *)&raw.y);
    float most = fmaxf(fmaxf(fabsf(low.x), fabsf(low.y)), fmaxf(fabsf(high.x), fabsf(high.y)));
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
        most = fmaxf(most, __shfl_xor_sync(EVERY_LANE, most, step));
    const float inverse = most > 0.0f ? __fdiv_rn(127.0f, most) : 0.0f;
    const int a = __float2int_rn(__fmul_rn(low.x, inverse)), b = __float2int_rn(__fmul_rn(low.y, inverse));
    const int c = __float2int_rn(__fmul_rn(high.x, inverse)), d = __float2int_rn(__fmul_rn(high.y, inverse));
    codes[column * 32 + lane] = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | (unsigned)d << 24;
    if (lane % 8 == 0)
        scales[column * Q8_BLOCKS + lane / 8] = __fmul_rn(most, SCORE_SCALE / 127.0f);
}

template <int COLUMNS> struct lane_q {
    unsigned codes[COLUMNS][8];
    float scales[COLUMNS];
};

template <int COLUMNS> static __device__ __forceinline__ void load_q(lane_q<COLUMNS> &q, const unsigned *codes, const float *scales)
{
    const int b = threadIdx.x % LANES_A_ROW;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        *(uint4 *)&q.codes[c][0] = *(const uint4 *)&codes[c * 32 + b * 8];
        *(uint4 *)&q.codes[c][4] = *(const uint4 *)&codes[c * 32 + b * 8 + 4];
        q.scales[c] = scales[c * Q8_BLOCKS + b];
    }
}

// Scores of a tile: on return the lane has those of row (lane % 4) * 8 + lane / 4.
template <int COLUMNS>
static __device__ __forceinline__ void tile_scores(float (&scores)[COLUMNS], const lane_q<COLUMNS> &q, const unsigned char *k, float *exchange)
{
    const int lane = threadIdx.x % 32, b = lane % LANES_A_ROW, group = lane / LANES_A_ROW;
    const block_place place = place_of_block(b);
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        const uint2 *words = (const uint2 *)(k + (pass * PASS_ROWS + group) * ROW_BYTES + b * 32);
        unsigned w[10];
#pragma unroll
        for (int i = 0; i < 5; i++)
            *(uint2 *)&w[2 * i] = words[i];
        const unsigned pair = __byte_perm(w[0], w[1], place.scale);
        const float d = __low2float(*(const __half2 *)&pair);
        int total[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            total[c] = INTEGER_BITS;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int four = (int)aligned(place, w[i], w[i + 1], i < 8 ? w[i + 2] : 0);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                total[c] = __dp4a(four, (int)q.codes[c][i], total[c]);
        }
        float score[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const float whole = __fadd_rn(__int_as_float(total[c]), -INTEGER_FLOAT);
            score[c] = group_sum<LANES_A_ROW>(__fmul_rn(whole, __fmul_rn(d, q.scales[c])));
        }
#if ROOT_REDUCTIONS
        if (b == 0)
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 4)
                *(float4 *)&exchange[c / 4 * PADDED_SCORES + pass * (PASS_ROWS * 4 + 8) + group * 4] =
                    make_float4(score[c], score[c + 1], score[c + 2], score[c + 3]);
#else
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            scores[c] = b == pass ? score[c] : scores[c];
#endif
    }
#if ROOT_REDUCTIONS
    __syncwarp();
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 4)
        *(float4 *)&scores[c] = *(const float4 *)&exchange[c / 4 * PADDED_SCORES + b * (PASS_ROWS * 4 + 8) + group * 4];
    __syncwarp();
#endif
}

// Weights of the lane's row to shared memory, at the lane's place.
template <int COLUMNS>
static __device__ __forceinline__ void tile_softmax(tile_state<COLUMNS> &state, const float (&scores)[COLUMNS], void *weights)
{
    const int lane = threadIdx.x % 32;
    float weight[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        state.maximum[c] = fmaxf(NO_MAXIMUM, warp_maximum(scores[c]));
        weight[c] = exp2_fast(__fsub_rn(scores[c], state.maximum[c]));
        state.sum[c] = weight[c];
    }
#if ATTENTION_HALF
    __half2 pairs[COLUMNS / 2];
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 2)
        pairs[c / 2] = __floats2half2_rn(weight[c], weight[c + 1]);
    if (COLUMNS == 8)
        ((uint4 *)weights)[lane] = *(const uint4 *)pairs;
    else
        ((uint2 *)weights)[lane] = *(const uint2 *)pairs;
#else
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 4)
        ((float4 *)weights)[c / 4 * TILE_ROWS + lane] = make_float4(weight[c], weight[c + 1], weight[c + 2], weight[c + 3]);
#endif
    __syncwarp();
}

// Add weights times V: a half-warp for a row, eight values a lane.
template <int COLUMNS>
static __device__ __forceinline__ void tile_values(tile_state<COLUMNS> &state, const unsigned char *v, const void *weights)
{
    const int lane = threadIdx.x % 32, sixteenth = lane % 16, half = lane / 16, b = sixteenth / 4;
    const block_place place = place_of_block(b);
    const unsigned char *mine = v + half * 4 * ROW_BYTES + sixteenth * 8;
    const unsigned char *scale = v + half * 4 * ROW_BYTES + b * 34;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
#if ATTENTION_HALF
        for (int e = 0; e < 4; e++)
            state.values[c][e] = __float2half2_rn(0.0f);
#else
        for (int e = 0; e < 8; e++)
            state.values[c][e] = 0.0f;
#endif
#pragma unroll 1
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int row = j * 8 + i, from = half * 16 + i * 4 + j;
            const uint2 first = *(const uint2 *)(mine + row * ROW_BYTES), second = *(const uint2 *)(mine + row * ROW_BYTES + 8);
            const __half d = *(const __half *)(scale + row * ROW_BYTES);
            unsigned four[2] = {aligned(place, first.x, first.y, second.x), aligned(place, first.y, second.x, second.y)};
            four[0] ^= 0x80808080u;
            four[1] ^= 0x80808080u;
#if ATTENTION_HALF
            __half2 value[4], weight[COLUMNS / 2];
            const unsigned offset = 0x64806480u;  // 1152
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const unsigned pair = __byte_perm(four[e / 2], 0x64646464u, e % 2 ? 0x4342u : 0x4140u);
                value[e] = __hmul2_rn(__hsub2_rn(*(const __half2 *)&pair, *(const __half2 *)&offset), __half2half2(d));
            }
            if (COLUMNS == 8)
                *(uint4 *)weight = ((const uint4 *)weights)[from];
            else
                *(uint2 *)weight = ((const uint2 *)weights)[from];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const __half2 one = c % 2 ? __high2half2(weight[c / 2]) : __low2half2(weight[c / 2]);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    state.values[c][e] = __hfma2(one, value[e], state.values[c][e]);
            }
#else
            float value[8];
            const float wide = __half2float(d), less = __fmul_rn(wide, -32896.0f);  // exact, and so is the value below
#pragma unroll
            for (int e = 0; e < 8; e++)
                value[e] = __fmaf_rn(__int_as_float((int)__byte_perm(four[e / 4], 0x47000000u, 0x7404u + 0x10u * (e % 4))), wide, less);
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 4) {
                const float4 weight = ((const float4 *)weights)[c / 4 * TILE_ROWS + from];
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    state.values[c][e] = __fmaf_rn(weight.x, value[e], state.values[c][e]);
                    state.values[c + 1][e] = __fmaf_rn(weight.y, value[e], state.values[c + 1][e]);
                    state.values[c + 2][e] = __fmaf_rn(weight.z, value[e], state.values[c + 2][e]);
                    state.values[c + 3][e] = __fmaf_rn(weight.w, value[e], state.values[c + 3][e]);
                }
            }
#endif
        }
    __syncwarp();
}

// The warp's sums over its two half-warps to shared memory, [column][half of eight][16 lanes][4]; maxima and sums beside them.
template <int COLUMNS>
static __device__ __forceinline__ void store_warp(const tile_state<COLUMNS> &state, float4 *values, float2 *scalars)
{
    const int lane = threadIdx.x % 32, sixteenth = lane % 16;
    const bool upper = lane >= 16;
#pragma unroll
    for (int c = 0; c < COLUMNS / 2; c++) {
        float kept[8];
#pragma unroll
        for (int e = 0; e < 8; e++) {
#if ATTENTION_HALF
            const __half2 here = state.values[c][e / 2], there = state.values[c + COLUMNS / 2][e / 2];
            const float low = e % 2 ? __high2float(here) : __low2float(here);
            const float high = e % 2 ? __high2float(there) : __low2float(there);
#else
            const float low = state.values[c][e], high = state.values[c + COLUMNS / 2][e];
#endif
            kept[e] = __fadd_rn(upper ? high : low, __shfl_xor_sync(EVERY_LANE, upper ? low : high, 16));
        }
        float4 *to = values + (c + (upper ? COLUMNS / 2 : 0)) * 32 + sixteenth;
        to[0] = make_float4(kept[0], kept[1], kept[2], kept[3]);
        to[16] = make_float4(kept[4], kept[5], kept[6], kept[7]);
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const float sum = group_sum<32>(state.sum[c]);
        if (lane == 0)
            scalars[c] = make_float2(state.maximum[c], sum);
    }
}

static __device__ __forceinline__ void add_scaled(float4 &to, float factor, const float4 &from)
{
    to.x = __fmaf_rn(factor, from.x, to.x);
    to.y = __fmaf_rn(factor, from.y, to.y);
    to.z = __fmaf_rn(factor, from.z, to.z);
    to.w = __fmaf_rn(factor, from.w, to.w);
}

// A warp for a column: the block's tiles become one split's values, maximum and sum.
template <int COLUMNS>
static __device__ __forceinline__ void merge_tiles(const attention_task &task, int column, const unsigned char *tiles, const float2 *scalars)
{
    const int lane = threadIdx.x % 32;
    const float2 own = lane % WARPS < task.tiles ? scalars[lane % WARPS * COLUMNS + column] : make_float2(NO_MAXIMUM, 0.0f);
    float4 values[WARPS];
#pragma unroll
    for (int t = 0; t < WARPS; t++) {
        values[t] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (t < task.tiles)
            values[t] = ((const float4 *)(tiles + t * 2 * TILE_BYTES))[column * 32 + lane];
    }
    const float maximum = warp_maximum(own.x);
#if EXP_BROADCAST
    const float mine = exp2_fast(__fsub_rn(own.x, maximum));
#endif
    float sum = 0.0f;
    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int t = 0; t < WARPS; t++) {
#if EXP_BROADCAST
        const float factor = __shfl_sync(EVERY_LANE, mine, t);
#else
        const float factor = exp2_fast(__fsub_rn(__shfl_sync(EVERY_LANE, own.x, t), maximum));
#endif
        sum = __fmaf_rn(factor, __shfl_sync(EVERY_LANE, own.y, t), sum);
        add_scaled(total, factor, values[t]);
    }
    const int place = (blockIdx.y * gridDim.x + blockIdx.x) * COLUMNS + column;
    __stcg(&task.split_values[place * 32 + lane], total);
    if (lane == 0)
        __stcg(&task.split_scalars[place], make_float2(maximum, sum));
}

// Whether this warp is the last to bring a split of its column: then it sees what all others wrote. The ticket starts again at 0.
static __device__ __forceinline__ bool last_of_column(const attention_task &task, int column)
{
    unsigned *tickets = task.tickets + (blockIdx.y * MOST_COLUMNS + column) * TICKET_WORDS, ticket = 0;
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(tickets) : "memory");
        if (ticket == gridDim.x - 1)
            *tickets = 0;
    }
    return __shfl_sync(EVERY_LANE, ticket, 0) == gridDim.x - 1;
}

// The last warp of a column, four values a lane: splits become partitions, partitions the output. There are
// 16 places for splits; those that stay empty count with a factor of 0.
template <int COLUMNS, int PARTITIONS> static __device__ __forceinline__ void merge_splits(const attention_task &task, int column)
{
    constexpr int PLACES = MOST_SPLITS / PARTITIONS;
    const int lane = threadIdx.x % 32, splits = gridDim.x, each = splits / PARTITIONS;
    const int row = column / GROUP * HEADS + blockIdx.y * GROUP + column % GROUP, rows = COLUMNS / GROUP * HEADS;
    const int first = blockIdx.y * splits * COLUMNS + column;
    const int value = lane % 16 * 2 + lane / 16;
    float2 own = make_float2(NO_MAXIMUM, 0.0f);
    if (lane % PLACES < each)
        own = __ldcg(&task.split_scalars[first + (lane % MOST_SPLITS / PLACES * each + lane % PLACES) * COLUMNS]);
    float4 values[MOST_SPLITS];
#pragma unroll
    for (int s = 0; s < MOST_SPLITS; s++) {
        values[s] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (s % PLACES < each)
            values[s] = __ldcg(&task.split_values[(first + (s / PLACES * each + s % PLACES) * COLUMNS) * 32 + lane]);
    }
    float of_partition = own.x;
#pragma unroll
    for (int step = 1; step < PLACES; step *= 2)
        of_partition = fmaxf(of_partition, __shfl_xor_sync(EVERY_LANE, of_partition, step));
    float largest = of_partition;
#pragma unroll
    for (int step = PLACES; step < MOST_SPLITS; step *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(EVERY_LANE, largest, step));
#if EXP_BROADCAST
    const float own_factor = exp2_fast(__fsub_rn(own.x, of_partition)), own_weight = exp2_fast(__fsub_rn(of_partition, largest));
#endif
    float all = 0.0f;
    float4 output = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int p = 0; p < PARTITIONS; p++) {
        const float maximum = __shfl_sync(EVERY_LANE, of_partition, p * PLACES);
        float sum = 0.0f;
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int s = p * PLACES; s < (p + 1) * PLACES; s++) {
#if EXP_BROADCAST
            const float factor = __shfl_sync(EVERY_LANE, own_factor, s);
#else
            const float factor = exp2_fast(__fsub_rn(__shfl_sync(EVERY_LANE, own.x, s), maximum));
#endif
            sum = __fmaf_rn(factor, __shfl_sync(EVERY_LANE, own.y, s), sum);
            add_scaled(total, factor, values[s]);
        }
        const int place = p * rows + row;
        if (PARTITIONS > 1)
            ((float4 *)task.accumulated)[place * 32 + value] = total;
        if (lane == 0) {
            task.maxima[place] = __fmul_rn(maximum, LN_2);
            task.sums[place] = sum;
        }
#if EXP_BROADCAST
        const float weight = __shfl_sync(EVERY_LANE, own_weight, p * PLACES);
#else
        const float weight = exp2_fast(__fsub_rn(maximum, largest));
#endif
        all = __fmaf_rn(weight, sum, all);
        add_scaled(output, weight, total);
    }
    const float inverse = __fdiv_rn(1.0f, all);
    ((float4 *)task.out)[row * 32 + value] =
        make_float4(output.x * inverse, output.y * inverse, output.z * inverse, output.w * inverse);
}

template <int COLUMNS> struct shared_state {
    unsigned long long arrived[2 * WARPS];
    unsigned codes[COLUMNS * 32];
    float scales[COLUMNS * Q8_BLOCKS];
    float2 scalars[WARPS * COLUMNS];
    float4 weights[WARPS][COLUMNS / 4 * PADDED_SCORES / 4];
};
static_assert(sizeof(shared_state<MOST_COLUMNS>) <= 23 * 1024, "what experiment.py asks for beside the tiles");

template <int COLUMNS> static __device__ __forceinline__ void attend(const attention_task &task, unsigned char *tiles)
{
    const int warp = __shfl_sync(EVERY_LANE, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const int row = (blockIdx.x * task.tiles + warp) * TILE_ROWS + lane % LANES_A_ROW * PASS_ROWS + lane / LANES_A_ROW;
    shared_state<COLUMNS> &shared = *(shared_state<COLUMNS> *)(tiles + task.tiles * 2 * TILE_BYTES);
    unsigned char *k = tiles + warp * 2 * TILE_BYTES, *v = k + TILE_BYTES;
    const long long from = ((long long)blockIdx.y * task.rows + (blockIdx.x * task.tiles + warp) * TILE_ROWS) * ROW_BYTES;
    unsigned long long *arrived = &shared.arrived[2 * warp];
    const bool busy = warp < task.tiles;
    // Few bytes first: behind the tiles they would come thousands of cycles later, and every score waits for Q.
    uint2 raw = make_uint2(0, 0);
    if (warp < COLUMNS)
        raw = ((const uint2 *)task.q)[(warp / GROUP * HEADS + blockIdx.y * GROUP + warp % GROUP) * 32 + lane];
    __half mask[COLUMNS / GROUP];
#pragma unroll
    for (int query = 0; query < COLUMNS / GROUP; query++)
        mask[query] = task.mask == nullptr || !busy ? __half(0.0f) : task.mask[query * task.rows + row];
    if (busy && lane == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(arrived)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_place(arrived + 1)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        copy_tile(k, task.k + from, arrived);
        copy_tile(v, task.v + from, arrived + 1);
    }
    if (warp < COLUMNS)
        quantise_q(raw, warp, shared.codes, shared.scales);
    __syncthreads();
    if (busy) {
        float scores[COLUMNS];
        tile_state<COLUMNS> state;
        {
            lane_q<COLUMNS> q;
            load_q<COLUMNS>(q, shared.codes, shared.scales);
            wait_for(arrived);
            tile_scores<COLUMNS>(scores, q, k, (float *)shared.weights[warp]);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            scores[c] = __fmaf_rn(__half2float(mask[c / GROUP]), LOG2_E, scores[c]);
        tile_softmax<COLUMNS>(state, scores, shared.weights[warp]);
        wait_for(arrived + 1);
        tile_values<COLUMNS>(state, v, shared.weights[warp]);
        store_warp<COLUMNS>(state, (float4 *)k, shared.scalars + warp * COLUMNS);
    }
    __syncthreads();
    if (warp >= COLUMNS)
        return;
    merge_tiles<COLUMNS>(task, warp, tiles, shared.scalars);
    if (!last_of_column(task, warp))
        return;
    if (task.partitions == 1)
        merge_splits<COLUMNS, 1>(task, warp);
    else
        merge_splits<COLUMNS, 4>(task, warp);
}

#define ATTENTION_Q8(symbol)                                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                                            \
        symbol(const unsigned char *k, const unsigned char *v, const __half *q, const __half *mask, float *out, float *accumulated,       \
               float *maxima, float *sums, float4 *split_values, float2 *split_scalars, unsigned *tickets, int tiles_a_block, int queries,        \
               int partitions)                                                                                                          \
    {                                                                                                                                   \
        extern __shared__ __align__(128) unsigned char tiles[];                                                                         \
        const attention_task task = {k,    v,            q,             mask,    out,  accumulated, maxima,                              \
                                     sums, split_values, split_scalars, tickets, tiles_a_block, tiles_a_block * TILE_ROWS * (int)gridDim.x, queries, partitions};                        \
        if (queries == 1)                                                                                                               \
            attend<4>(task, tiles);                                                                                                     \
        else                                                                                                                            \
            attend<8>(task, tiles);                                                                                                     \
    }
