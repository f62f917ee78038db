#define ATTENTION_HALF 1
#define ROOT_REDUCTIONS 0
#define EXP_BROADCAST 1
#include "attention_q8.cuh"

ATTENTION_Q8(attention_q8_fp16_exp_broadcast)
