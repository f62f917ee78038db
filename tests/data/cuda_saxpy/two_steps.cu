extern "C" __global__ void saxpy_product(const float *__restrict__ x, float *__restrict__ product, float a, int n)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n)
        product[i] = __fmul_rn(a, x[i]);
}

extern "C" __global__ void saxpy_sum(const float *__restrict__ product, const float *__restrict__ y0, float *__restrict__ y, int n)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * TILE + threadIdx.x, far = 15 * 1024 + threadIdx.x;
    if (i < n)
        tile[far] = product[i];
    __syncthreads();
    if (i < n)
        y[i] = __fadd_rn(tile[far], y0[i]);
}
