// What the decoders of moe_formats.cuh are made of, as one instruction each. A host compiler gets functions of the same names from the tests.

#pragma once

typedef unsigned int u32;
typedef unsigned char byte;

#define INLINE static __device__ __forceinline__

INLINE u32 permute(u32 a, u32 b, u32 selector)
{
    return __byte_perm(a, b, selector);
}

INLINE u32 funnel(u32 low, u32 high, u32 shift)
{
    return __funnelshift_r(low, high, shift);
}

// Two halves a word: a product and a sum rounded once, to nearest even.
INLINE u32 fma2(u32 a, u32 b, u32 c)
{
    u32 d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

INLINE u32 mul2(u32 a, u32 b)
{
    u32 d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

INLINE u32 add2(u32 a, u32 b)
{
    u32 d;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

INLINE u32 ones(u32 bits)
{
    return __popc(bits);
}

INLINE u32 word_at(const byte *place)
{
    return *reinterpret_cast<const u32 *>(place);
}

INLINE u32 half_at(const byte *place)
{
    return *reinterpret_cast<const unsigned short *>(place);
}

INLINE uint2 words_at(const byte *place)
{
    return *reinterpret_cast<const uint2 *>(place);
}

INLINE uint4 four_words_at(const byte *place)
{
    return *reinterpret_cast<const uint4 *>(place);
}
