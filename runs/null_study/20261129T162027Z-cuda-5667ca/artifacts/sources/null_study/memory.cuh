// Kernels whose time is the way of data: from memory, from the second-level cache, to random places, through shared memory, by atomics.
#pragma once

// More bytes than the second-level cache holds. Thread j sums the 64 values of the 16 vectors j, j + n, j + 2n, ... of its own.
KERNEL(stream, 256)(const float4 *__restrict__ x, float *__restrict__ y, int n)
{
    int j = blockIdx.x * 256 + threadIdx.x;
    float4 held[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        held[k] = x[k * n + j];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += sum_of(held[k]);
    y[j] = sum;
}

// 16 MiB read four times, past the first-level cache, each time by another block. n is a power of two.
KERNEL(l2_resident, 256)(const float4 *__restrict__ x, float *__restrict__ y, int n, int shift)
{
    int j = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int turn = 0; turn < 4; turn++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += sum_of(__ldcg(x + k * n + ((j + turn * shift) & (n - 1))));
    y[j] = sum;
}

// Eight elements of 16 bytes from random places of a table.
KERNEL(gather, 256)(const int4 *__restrict__ table, const int *__restrict__ places, int *__restrict__ y, int n)
{
    int j = blockIdx.x * 256 + threadIdx.x, sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += sum_of(table[places[k * n + j]]);
    y[j] = sum;
}

// Tiles of 32 x 32 through shared memory, whose rows are padded by a word so that columns lie in different banks.
KERNEL(transpose, 256)(const float *__restrict__ x, float *__restrict__ y, int rows, int columns)
{
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x % 32, row = blockIdx.y * 32 + threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.x / 32 + k][threadIdx.x % 32] = x[(row + k) * columns + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x % 32, row = blockIdx.x * 32 + threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        y[(row + k) * rows + column] = tile[threadIdx.x % 32][threadIdx.x / 32 + k];
}

KERNEL(atomics_clear, 256)(int *__restrict__ bins)
{
    bins[blockIdx.x * 256 + threadIdx.x] = 0;
}

// A histogram of random keys by global atomics, four keys a thread.
KERNEL(atomics, 256)(const int4 *__restrict__ keys, int *__restrict__ bins)
{
    int4 key = keys[blockIdx.x * 256 + threadIdx.x];
    atomicAdd(bins + key.x, 1);
    atomicAdd(bins + key.y, 1);
    atomicAdd(bins + key.z, 1);
    atomicAdd(bins + key.w, 1);
}
