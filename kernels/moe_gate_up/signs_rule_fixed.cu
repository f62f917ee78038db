#define HOISTED 1
#define SIGNS_BY_RULE 1
#define MASK_HOISTED 1
#include "moe_arms.cuh"

ARM_IQ2_XS_ALONE(moe_signs_rule_fixed)
