#include "moe_arms.cuh"

ARM(moe_general)
