#define ATTENTION_HALF 0
#define ROOT_REDUCTIONS 0
#define EXP_BROADCAST 0
#include "attention_q8.cuh"

ATTENTION_Q8(attention_q8_fp32)
