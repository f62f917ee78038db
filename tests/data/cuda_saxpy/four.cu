#include "saxpy.cuh"

extern "C" __global__ void __launch_bounds__(256)
    saxpy_four(const float *__restrict__ x, const float *__restrict__ y0, float *__restrict__ y, float a, long long n)
{
    long long first = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 4 <= n) {
        float4 xs = *(const float4 *)(x + first), ys = *(const float4 *)(y0 + first);
        *(float4 *)(y + first) =
            make_float4(saxpy(a, xs.x, ys.x), saxpy(a, xs.y, ys.y), saxpy(a, xs.z, ys.z), saxpy(a, xs.w, ys.w));
        return;
    }
    for (long long i = first; i < n; i++)
        y[i] = saxpy(a, x[i], y0[i]);
}
