// Your kernel: parameters are those that kernels() in experiment.py lists, in that order.
extern "C" __global__ void scale_plain(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 3.0f * x[i];
}
