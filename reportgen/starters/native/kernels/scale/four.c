#include "reportgen_native.h"

/* Your idea: the same work, done otherwise. */
void scale_four(const reportgen_arg *args)
{
    const float *x = args[0].p;
    float *y = args[1].p;
    for (int64_t i = 0; i < args[2].i; i += 4) {
        y[i] = 3.0f * x[i];
        y[i + 1] = 3.0f * x[i + 1];
        y[i + 2] = 3.0f * x[i + 2];
        y[i + 3] = 3.0f * x[i + 3];
    }
}
