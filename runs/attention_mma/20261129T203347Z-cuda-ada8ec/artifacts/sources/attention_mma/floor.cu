// Two empty kernels, launched as the arms' are.
extern "C" __global__ void __launch_bounds__(256, 1) attention_mma_floor() {}
extern "C" __global__ void __launch_bounds__(256) attention_mma_floor_combine() {}
