// An empty kernel, launched as the arms are.
extern "C" __global__ void ENTRY() {}
