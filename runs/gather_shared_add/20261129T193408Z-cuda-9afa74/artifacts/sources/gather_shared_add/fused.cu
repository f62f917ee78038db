// Gather and add in one kernel, which bears the arm's symbol; ceilings do without the remap.
#include "layer.cuh"

REMAP(KERNEL(_remap))
FUSED(ENTRY)
