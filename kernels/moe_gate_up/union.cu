#define UNION 1
#include "moe_arms.cuh"

ARM_Q6_K(moe_union)
