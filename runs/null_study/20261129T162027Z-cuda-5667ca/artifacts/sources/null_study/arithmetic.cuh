// Chains of dependent instructions in one wave: time is rounds x cycles of the loop body. A round leaves every value as it was,
// so that arms with more rounds have the same right answer.
#pragma once

// One round is 16 dependent multiply-adds: four times 2x + c0, -x + c1, x / 2 + c2, -x + c3, where c3 = (c1 - c0) / 2 + c2.
KERNEL(fp32, 128)(const float *__restrict__ x, const float *__restrict__ steps, float *__restrict__ y, int rounds)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float value = x[i], factors[4], terms[4];
#pragma unroll
    for (int step = 0; step < 4; step++) {
        factors[step] = steps[step];
        terms[step] = steps[4 + step];
    }
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < 16; step++)
            value = fmaf(value, factors[step % 4], terms[step % 4]);
    }
    y[i] = fmaf(value, factors[0], terms[0]);
}

static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A warp owns a 16 x 8 matrix c. One round is four dependent matrix products: c + a b0 + a b1 - a b0 - a b1. At the end c + a b0.
// a: 16 x 16 halves by rows, two a word; b: b0, then b1, each 16 x 8 halves by columns.
KERNEL(tensor, 128)
(const unsigned *__restrict__ a, const unsigned *__restrict__ b, const float *__restrict__ c, float *__restrict__ y, int rounds)
{
    int warp = blockIdx.x * 4 + threadIdx.x / 32, row = threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
    unsigned plus[4], minus[4], right[2][2];
#pragma unroll
    for (int part = 0; part < 4; part++) {
        plus[part] = a[(row + part % 2 * 8) * 8 + pair + part / 2 * 4];
        minus[part] = plus[part] ^ 0x80008000u;
        right[part / 2][part % 2] = b[part / 2 * 64 + row * 8 + pair + part % 2 * 4];
    }
    const float *from = c + warp * 128 + row * 8 + pair * 2;
    float sums[4] = {from[0], from[1], from[64], from[65]};
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        multiply(sums, plus, right[0]);
        multiply(sums, plus, right[1]);
        multiply(sums, minus, right[0]);
        multiply(sums, minus, right[1]);
    }
    multiply(sums, plus, right[0]);
    float *to = y + warp * 128 + row * 8 + pair * 2;
    to[0] = sums[0];
    to[1] = sums[1];
    to[64] = sums[2];
    to[65] = sums[3];
}

// One round replaces four neighbours by their mean: two dependent shuffles, two sums, a shift. Inputs are multiples of four, so the first round is
// exact and the others change nothing. Then the block's sum.
KERNEL(shuffle, 128)(const int *__restrict__ x, int *__restrict__ y, int rounds)
{
    __shared__ int shared[4];
    int i = blockIdx.x * 128 + threadIdx.x, value = x[i];
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        value += __shfl_xor_sync(ALL, value, 1);
        value += __shfl_xor_sync(ALL, value, 2);
        value >>= 2;
    }
    y[i] = value + block_sum<4>(value, shared);
}

// A warp a row of 4,096 bytes, which lies in the second-level cache, times four vectors, which lie in the first.
KERNEL(int8_dot, 256)(const int4 *__restrict__ weights, const int4 *__restrict__ x, int4 *__restrict__ y)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    int sums[4] = {0, 0, 0, 0};
#pragma unroll 4
    for (int i = lane; i < 256; i += 32) {
        int4 w = weights[row * 256 + i];
#pragma unroll
        for (int vector = 0; vector < 4; vector++) {
            int4 v = x[vector * 256 + i];
            sums[vector] = __dp4a(w.x, v.x, sums[vector]);
            sums[vector] = __dp4a(w.y, v.y, sums[vector]);
            sums[vector] = __dp4a(w.z, v.z, sums[vector]);
            sums[vector] = __dp4a(w.w, v.w, sums[vector]);
        }
    }
#pragma unroll
    for (int vector = 0; vector < 4; vector++)
        sums[vector] = warp_sum(sums[vector]);
    if (lane == 0)
        y[row] = make_int4(sums[0], sums[1], sums[2], sums[3]);
}
