#define COLUMNS 32
#define EXP_BROADCAST 1
#define RECIPROCAL_BROADCAST 1
#include "attention_mma.cuh"

ATTENTION_MMA(attention_mma_4x8_both)
