#define COLUMNS 32
#define EXP_BROADCAST 0
#define RECIPROCAL_BROADCAST 0
#include "attention_mma.cuh"

ATTENTION_MMA(attention_mma_4x8)
