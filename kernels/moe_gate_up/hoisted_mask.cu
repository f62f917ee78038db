#define HOISTED 1
#define MASK_HOISTED 1
#include "moe_arms.cuh"

ARM(moe_hoisted_mask)
