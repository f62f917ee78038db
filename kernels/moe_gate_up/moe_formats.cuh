// Twelve block formats: 8 weights at a time from a row's bytes in shared memory to four words of two halves.
//
// A step is 256 values of a row (one block, or several of a format of smaller blocks); a warp works on one half of it, 128 values, in four
// chunks of 32. Lane t of the four that share a row owns values 8t .. 8t+7 of a chunk (SPLIT: 4t .. 4t+3 and 16+4t .. 16+4t+3). Chunks come in
// pairs, C and C + PARTNER, since nibbles do.
//
// A byte b becomes the half 1024 + b (bits 0x6400 | b) or 256 + b / 4 (0x5C00 | b), and fma2(1024 + b, scale, -1024 scale) = scale b rounds once.

#pragma once

constexpr u32 K1024 = 0x64646464u, K256 = 0x5C5C5C5Cu;  // upper bytes of the halves 1024 and 256
constexpr u32 MINUS_1024 = 0xE400E400u, MINUS_1025 = 0xE401E401u, MINUS_1152 = 0xE480E480u, MINUS_288 = 0xDC80DC80u;
constexpr u32 MINUS_256 = 0xDC00DC00u, MINUS_128 = 0xD800D800u;
constexpr u32 SIXTEENTH = 0x2C002C00u, QUARTER = 0x34003400u, EIGHTH = 0x30003000u, ONE = 0x3C003C00u;
constexpr u32 NIBBLES = 0x0F0F0F0Fu, SIGNS = 0x80008000u;

// Where a row's step lies: `block` on two bytes, `shift` 16 if not on four; the warp's half h of it, the lane's place t among four.
struct place {
    const byte *block;
    u32 shift;
    int h, t;
    const u32 *grid, *signs;
};

// Two words from an offset that is a multiple of four, wherever the block begins.
INLINE void fetch(const place &at, int offset, u32 (&out)[2])
{
    const byte *from = at.block + offset - (at.shift >> 3);
    const u32 middle = word_at(from + 4);
    out[0] = funnel(word_at(from), middle, at.shift);
    out[1] = funnel(middle, word_at(from + 8), at.shift);
}

// A word that begins on two bytes.
INLINE u32 loose_word(const byte *from)
{
    return half_at(from) | half_at(from + 2) << 16;
}

INLINE u32 both(u32 half)
{
    return permute(half, half, 0x1010);
}

template <int N> INLINE u32 both_of_byte(u32 bytes, u32 upper)
{
    return permute(bytes, upper, 0x4040 | N << 8 | N);
}

// Four bytes to two words of halves, exponent `upper`.
INLINE void widen(u32 bytes, u32 upper, u32 &low, u32 &high)
{
    low = permute(bytes, upper, 0x4140);
    high = permute(bytes, upper, 0x4342);
}

INLINE void scaled(u32 (&out)[4], u32 scale, u32 bias)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        out[i] = fma2(out[i], scale, bias);
}

INLINE void times(u32 (&out)[4], u32 factor)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        out[i] = mul2(out[i], factor);
}

// Formats of one scale d for 32 or 64 values: operand = half(d q).

struct Q8_0 {
    static constexpr int VALUES = 32, BYTES = 34, PITCH = 272, PARTNER = 1, SPLIT = 0, HALVED = 1, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    struct state {};
    INLINE state open(const place &) { return {}; }
    template <int C> INLINE void chunk(const place &at, u32 (&out)[4])
    {
        const byte *block = at.block + BYTES * (4 * at.h + C), *values = block + 2 + 8 * at.t;
        u32 low, high;
        if (C % 2) {
            low = word_at(values), high = word_at(values + 4);
        } else {
            const u32 middle = word_at(values + 2);
            low = permute(word_at(values - 2), middle, 0x5432), high = permute(middle, word_at(values + 6), 0x5432);
        }
        widen(low ^ 0x80808080u, K1024, out[0], out[1]);
        widen(high ^ 0x80808080u, K1024, out[2], out[3]);
        scaled(out, ONE, MINUS_1152);
        times(out, both(half_at(block)));
    }
    template <int P> INLINE void pair(const place &at, const state &, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, one);
        chunk<2 * P + 1>(at, two);
    }
};

struct Q2_0 {
    static constexpr int VALUES = 64, BYTES = 18, PITCH = 80, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    struct state {};
    INLINE state open(const place &) { return {}; }
    // The 16 bits twice, 14 apart: values 2i and 2i + 1 lie 16 bits apart.
    INLINE void eight(u32 bits, u32 d, u32 (&out)[4])
    {
        const u32 wide = bits | bits << 14, later = wide >> 8;
        out[0] = add2((wide & 0x00030003u) | 0x64006400u, MINUS_1025);
        out[1] = fma2((wide & 0x00300030u) | 0x64006400u, SIXTEENTH, 0xD410D410u);  // -65
        out[2] = add2((later & 0x00030003u) | 0x64006400u, MINUS_1025);
        out[3] = fma2((later & 0x00300030u) | 0x64006400u, SIXTEENTH, 0xD410D410u);
        times(out, d);
    }
    template <int P> INLINE void pair(const place &at, const state &, u32 (&one)[4], u32 (&two)[4])
    {
        const byte *block = at.block + BYTES * (2 * at.h + P);
        const u32 d = both(half_at(block));
        eight(half_at(block + 2 + 2 * at.t), d, one);
        eight(half_at(block + 10 + 2 * at.t), d, two);
    }
};

// Formats with scales and minima: operand = half(d (scale q) - half(dmin m)), scale q exact.

struct minima_state {
    u32 scales, minima, d, dmin;  // four bytes each, one a chunk; the others two halves
};

template <int C> INLINE void with_minimum(const minima_state &s, u32 shrink, u32 (&out)[4])
{
    u32 scale = add2(both_of_byte<C>(s.scales, K1024), MINUS_1024);
    if (shrink != ONE)
        scale = mul2(scale, shrink);
    scaled(out, scale, mul2(scale, MINUS_1024));
    const u32 minimum = mul2(add2(both_of_byte<C>(s.minima, K1024), MINUS_1024), s.dmin);
    scaled(out, s.d, minimum);
}

struct Q2_K {
    static constexpr int VALUES = 256, BYTES = 84, PITCH = 96, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    typedef minima_state state;
    INLINE state open(const place &at)
    {
        const byte *from = at.block + 8 * at.h;
        const u32 mine = permute(word_at(from), word_at(from + 4), at.t & 2 ? 0x7531 : 0x6420), ends = word_at(at.block + 80);
        return {mine & NIBBLES, mine >> 4 & NIBBLES, both(ends), permute(ends, ends, 0x3232) ^ SIGNS};
    }
    template <int C> INLINE void chunk(const place &at, const state &s, u32 (&out)[4])
    {
        const byte *from = at.block + 16 + 32 * at.h + 8 * at.t;
        constexpr u32 MINE = 0x03030303u << (2 * C);
        constexpr u32 SHRINK = ONE - 0x08000800u * C;  // 4^-C
        widen(word_at(from) & MINE, K1024, out[0], out[1]);
        widen(word_at(from + 4) & MINE, K1024, out[2], out[3]);
        with_minimum<C>(s, SHRINK, out);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, s, one);
        chunk<2 * P + 1>(at, s, two);
    }
};

INLINE minima_state open_k45(const place &at)
{
    const uint4 head = four_words_at(at.block);  // d and dmin; 12 bytes of six-bit scales and minima
    const u32 scales = at.h ? (head.w & NIBBLES) | (head.y >> 2 & 0x30303030u) : head.y & 0x3F3F3F3Fu;
    const u32 minima = at.h ? (head.w >> 4 & NIBBLES) | (head.z >> 2 & 0x30303030u) : head.z & 0x3F3F3F3Fu;
    return {scales, minima, both(head.x), permute(head.x, head.x, 0x3232) ^ SIGNS};
}

struct Q4_K {
    static constexpr int VALUES = 256, BYTES = 144, PITCH = 160, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    typedef minima_state state;
    INLINE state open(const place &at) { return open_k45(at); }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        const uint2 codes = words_at(at.block + 16 + 64 * at.h + 32 * P + 8 * at.t);
        widen(codes.x & NIBBLES, K1024, one[0], one[1]);
        widen(codes.y & NIBBLES, K1024, one[2], one[3]);
        widen(codes.x & ~NIBBLES, K1024, two[0], two[1]);
        widen(codes.y & ~NIBBLES, K1024, two[2], two[3]);
        with_minimum<2 * P>(s, ONE, one);
        with_minimum<2 * P + 1>(s, SIXTEENTH, two);
    }
};

struct Q5_K {
    static constexpr int VALUES = 256, BYTES = 176, PITCH = 176, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    typedef minima_state state;
    INLINE state open(const place &at) { return open_k45(at); }
    template <int C> INLINE u32 code(u32 nibbles, u32 fifth)
    {
        return (nibbles & NIBBLES) | ((C < 4 ? fifth << (4 - C) : fifth >> (C - 4)) & 0x10101010u);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        const uint2 codes = words_at(at.block + 48 + 64 * at.h + 32 * P + 8 * at.t);
        uint2 fifths = words_at(at.block + 16 + 8 * at.t);
        fifths.x >>= 4 * at.h, fifths.y >>= 4 * at.h;
        widen(code<2 * P>(codes.x, fifths.x), K1024, one[0], one[1]);
        widen(code<2 * P>(codes.y, fifths.y), K1024, one[2], one[3]);
        widen(code<2 * P + 1>(codes.x >> 4, fifths.x), K1024, two[0], two[1]);
        widen(code<2 * P + 1>(codes.y >> 4, fifths.y), K1024, two[2], two[3]);
        with_minimum<2 * P>(s, ONE, one);
        with_minimum<2 * P + 1>(s, ONE, two);
    }
};

// Formats of one d for 256 values and whole scales: operand = half(d half(scale q)); half(scale q) is exact but for |scale q| > 2048.

struct scaled_state {
    u32 scales, d;  // four bytes, one a chunk; two halves
};

struct Q6_K {
    static constexpr int VALUES = 256, BYTES = 210, PITCH = 224, PARTNER = 2, SPLIT = 0, HALVED = 1, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    typedef scaled_state state;
    INLINE state open(const place &at)
    {
        u32 scales[2];
        fetch(at, 192 + 8 * at.h, scales);
        return {permute(scales[0], scales[1], at.t & 2 ? 0x7531 : 0x6420) ^ 0x80808080u, both(half_at(at.block + 208))};
    }
    template <int C> INLINE void finish(const state &s, u32 (&out)[4])
    {
        const u32 scale = add2(both_of_byte<C>(s.scales, K1024), MINUS_1152);
        scaled(out, scale, mul2(scale, MINUS_288));
        times(out, s.d);
    }
    // Chunks P and P + 2: codes times four, so that 256 + code has room for six bits.
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        u32 low[2], high[2];
        fetch(at, 64 * at.h + 32 * P + 8 * at.t, low);
        fetch(at, 128 + 32 * at.h + 8 * at.t, high);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const u32 first = (low[i] << 2 & 0x3C3C3C3Cu) | (high[i] << (6 - 2 * P) & 0xC0C0C0C0u);
            const u32 second = (low[i] >> 2 & 0x3C3C3C3Cu) | ((P ? high[i] : high[i] << 2) & 0xC0C0C0C0u);
            widen(first, K256, one[2 * i], one[2 * i + 1]);
            widen(second, K256, two[2 * i], two[2 * i + 1]);
        }
        finish<P>(s, one);
        finish<P + 2>(s, two);
    }
};
