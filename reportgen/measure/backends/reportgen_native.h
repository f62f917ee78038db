/* What a C kernel sees of the harness: each arm exports void symbol(const reportgen_arg *args). */
#ifndef REPORTGEN_NATIVE_H
#define REPORTGEN_NATIVE_H

#include <stdint.h>

/* One argument of a KernelCall, in the order of its args: a buffer, an integer or a float. */
typedef union {
    void *p;
    int64_t i;
    double f;
} reportgen_arg;

#endif
