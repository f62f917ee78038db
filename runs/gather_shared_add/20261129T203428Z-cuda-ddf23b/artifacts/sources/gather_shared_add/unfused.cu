// Remap, gather and add as kernels of their own; the gather bears the arm's symbol.
#include "layer.cuh"

REMAP(KERNEL(_remap))
GATHER(ENTRY)
ADD(KERNEL(_add))
