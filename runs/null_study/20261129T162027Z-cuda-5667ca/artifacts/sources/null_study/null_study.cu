// All kernels of the study, in every arm the same. ENTRY is the arm's entry point: the one thing in which two arms' sources differ,
// and it reaches no code.
#define JOINED(entry, kind) entry##_##kind
#define NAMED(entry, kind) JOINED(entry, kind)
#define KERNEL(kind, threads) extern "C" __global__ void __launch_bounds__(threads) NAMED(ENTRY, kind)

#include "reductions.cuh"

#include "arithmetic.cuh"
#include "memory.cuh"
#include "mixed.cuh"
