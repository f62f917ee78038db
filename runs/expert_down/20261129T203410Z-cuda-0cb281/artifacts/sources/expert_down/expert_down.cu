#include "expert_down.cuh"

EXPERT_DOWN(SYMBOL)
