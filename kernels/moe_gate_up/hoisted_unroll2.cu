#define HOISTED 1
#define UNROLL 2
#include "moe_arms.cuh"

ARM(moe_hoisted_unroll2)
