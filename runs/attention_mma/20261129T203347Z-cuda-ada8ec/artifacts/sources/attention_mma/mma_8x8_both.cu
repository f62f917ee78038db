#define COLUMNS 64
#define EXP_BROADCAST 1
#define RECIPROCAL_BROADCAST 1
#include "attention_mma.cuh"

ATTENTION_MMA(attention_mma_8x8_both)
