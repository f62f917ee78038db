#include "reportgen_philox.h"
#include "saxpy.cuh"

// Four values a thread are one block of the generator.
extern "C" __global__ void __launch_bounds__(256)
    saxpy_drawn(const float *__restrict__ y0, float *__restrict__ y, float a, unsigned long long seed, long long n)
{
    long long block = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * block >= n)
        return;
    reportgen_block words = reportgen_philox(seed, 1, block);
    for (int lane = 0; lane < 4; lane++)
        if (4 * block + lane < n)
            y[4 * block + lane] = saxpy(a, reportgen_uniform(words.lane[lane]), y0[4 * block + lane]);
}
