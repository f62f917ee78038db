// An empty kernel, launched as the arms are; where launches are programmatic, with the same two instructions.
#ifndef PROGRAMMATIC
#define PROGRAMMATIC 0
#endif

extern "C" __global__ void ENTRY()
{
#if PROGRAMMATIC
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
