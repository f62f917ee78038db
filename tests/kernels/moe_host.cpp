// The decoders of kernels/moe_gate_up as a host compiler sees them: the same headers over functions that do what one GPU instruction does.

#include <cstdint>
#include <cstring>

typedef unsigned int u32;
typedef unsigned char byte;
struct uint2 { u32 x, y; };
struct uint4 { u32 x, y, z, w; };
#define INLINE static inline

INLINE u32 permute(u32 a, u32 b, u32 selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    u32 out = 0;
    for (int i = 0; i < 4; i++)
        out |= (u32)(bytes >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return out;
}

INLINE u32 funnel(u32 low, u32 high, u32 shift) { return (u32)(((uint64_t)high << 32 | low) >> (shift & 31)); }

INLINE double wide(u32 pair, int i)
{
    const uint16_t bits = (uint16_t)(pair >> (16 * i));
    _Float16 half;
    memcpy(&half, &bits, 2);
    return (double)half;
}

INLINE u32 packed(double low, double high)
{
    const _Float16 halves[2] = {(_Float16)low, (_Float16)high};
    u32 out;
    memcpy(&out, halves, 4);
    return out;
}

// Products of halves and their sums with halves of like size are exact in double: one rounding.
INLINE u32 fma2(u32 a, u32 b, u32 c) { return packed(wide(a, 0) * wide(b, 0) + wide(c, 0), wide(a, 1) * wide(b, 1) + wide(c, 1)); }
INLINE u32 mul2(u32 a, u32 b) { return packed(wide(a, 0) * wide(b, 0), wide(a, 1) * wide(b, 1)); }
INLINE u32 add2(u32 a, u32 b) { return packed(wide(a, 0) + wide(b, 0), wide(a, 1) + wide(b, 1)); }
INLINE u32 ones(u32 bits) { return __builtin_popcount(bits); }

template <class T> static inline T loaded(const byte *place)
{
    T out;
    memcpy(&out, place, sizeof(T));
    return out;
}
INLINE u32 word_at(const byte *place) { return loaded<u32>(place); }
INLINE u32 half_at(const byte *place) { return loaded<uint16_t>(place); }
INLINE uint2 words_at(const byte *place) { return loaded<uint2>(place); }
INLINE uint4 four_words_at(const byte *place) { return loaded<uint4>(place); }

#include "moe_formats.cuh"
#include "moe_codebook_formats.cuh"

// Operands [row, 256] as halves of rows of 256 values that begin `first` bytes (even) into memory aligned to 16, `stride` bytes apart.
template <class F> static void decode(const byte *rows, int count, int stride, int first, const u32 *grid, uint16_t *out)
{
    u32 signs[256];
    for (u32 bits = 0; bits < 256; bits++)
        signs[bits] = sign_entry<F>(bits);
    for (int row = 0; row < count; row++)
        for (int h = 0; h < 2; h++)
            for (int t = 0; t < 4; t++) {
                const byte *block = rows + (size_t)row * stride + first;
                const place at = {block, (u32)(first & 2) * 8, h, t, grid, signs};
                const typename F::state state = F::open(at);
                u32 words[4][4];
                F::template pair<0>(at, state, words[0], words[F::PARTNER]);
                F::template pair<1>(at, state, words[F::PARTNER == 1 ? 2 : 1], words[3]);
                for (int chunk = 0; chunk < 4; chunk++)
                    for (int i = 0; i < 4; i++) {
                        const int own = F::SPLIT ? 16 * (i / 2) + 4 * t + 2 * (i % 2) : 8 * t + 2 * i;
                        memcpy(out + 256 * row + 128 * h + 32 * chunk + own, &words[chunk][i], 4);
                    }
            }
}

#define FORMAT(F) \
    extern "C" void decode_##F(const byte *rows, int count, int stride, int first, const u32 *grid, uint16_t *out) \
    { \
        decode<F>(rows, count, stride, first, grid, out); \
    }
FORMAT(Q4_K) FORMAT(Q5_K) FORMAT(Q6_K) FORMAT(Q8_0) FORMAT(Q2_0) FORMAT(Q2_K)
FORMAT(IQ4_XS) FORMAT(IQ3_XXS) FORMAT(IQ3_S) FORMAT(IQ2_XXS) FORMAT(IQ2_XS) FORMAT(IQ2_S)

// The signs of eight values as the table holds them, and by the rule.
extern "C" u32 signs_by_table(u32 seven) { return sign_entry<IQ2_XS>(seven); }
extern "C" u32 signs_by_rule(u32 seven) { return parity_signs(seven); }
