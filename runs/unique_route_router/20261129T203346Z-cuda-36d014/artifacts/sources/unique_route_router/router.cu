// ENTRY is the arm's symbol, EMITTER how it makes the table.
#include "router.cuh"

ROUTER(ENTRY)
