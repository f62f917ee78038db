// One value: the product is rounded before the sum, so that every arm has the same bits.
#pragma once

static __device__ __forceinline__ float saxpy(float a, float x, float y0)
{
    return __fadd_rn(__fmul_rn(a, x), y0);
}
