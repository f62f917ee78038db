#define PADDED 1
#include "moe_arms.cuh"

#define NAMED(SIZE) ARM_Q6_K(moe_pad_##SIZE) ARM_IQ2_XS(moe_pad_##SIZE)
#define SIZED(SIZE) NAMED(SIZE)
SIZED(KIB)
