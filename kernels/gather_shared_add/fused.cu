// Gather and add in one kernel; the remap that ceilings do without stands here all the same. ENTRY is the arm's symbol.
#include "layer.cuh"

REMAP(KERNEL(_remap))
FUSED(ENTRY)
