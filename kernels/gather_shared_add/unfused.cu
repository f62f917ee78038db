// Remap, gather and add as kernels of their own; ENTRY is the arm's symbol.
#include "layer.cuh"

REMAP(KERNEL(_remap))
GATHER(KERNEL(_gather))
ADD(KERNEL(_add))
