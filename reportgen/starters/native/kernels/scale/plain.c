#include "reportgen_native.h"

/* Your kernel: arguments are those that kernels() in experiment.py lists, in that order. */
void scale_plain(const reportgen_arg *args)
{
    const float *x = args[0].p;
    float *y = args[1].p;
    for (int64_t i = 0; i < args[2].i; i++)
        y[i] = 3.0f * x[i];
}
