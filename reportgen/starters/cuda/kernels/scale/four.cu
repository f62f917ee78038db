// Your idea: the same work, done otherwise.
extern "C" __global__ void scale_four(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= n) {
        float4 v = *(const float4 *)(x + i);
        *(float4 *)(y + i) = make_float4(3.0f * v.x, 3.0f * v.y, 3.0f * v.z, 3.0f * v.w);
    }
}
