// The six formats whose codes are places in a table: operand = half(d half(scale value)), as in moe_formats.cuh.
//
// Signs come in eights; where seven bits tell them, the eighth makes their number even. `signs` holds them spread out for each byte or seven bits.

#pragma once

#ifndef SIGNS_BY_RULE
#define SIGNS_BY_RULE 0  // IQ2_XS alone: 1 computes what the table of signs holds
#endif

// Bit 0 of nibble i from bit i: three steps that each move the upper half of the bits.
INLINE u32 nibble_signs(u32 bits)
{
    const u32 fours = bits * 0x1001u & 0x000F000Fu, twos = fours * 0x41u & 0x03030303u;
    return twos * 9u & 0x11111111u;
}

// That of seven bits and their parity: the product's upper nibble is the sum of all nibbles, at most 7.
INLINE u32 parity_signs(u32 seven)
{
    const u32 signs = nibble_signs(seven);
    return signs | (signs * 0x11111111u & 0x10000000u);
}

// Bits 15 - j and 31 - j from bits 2j and 2j + 1: shifted left by j they are the signs of word j.
INLINE u32 word_signs(u32 bits)
{
    u32 spread = 0;
#pragma unroll
    for (int j = 0; j < 4; j++)
        spread |= (bits >> (2 * j) & 1) << (15 - j) | (bits >> (2 * j + 1) & 1) << (31 - j);
    return spread;
}

INLINE u32 with_parity(u32 seven)
{
    return seven | (ones(seven) & 1) << 7;
}

// Scale 2s + 1 of a chunk, times `unit`: `less` is 1024 of these.
template <int C> INLINE u32 odd_scale(u32 nibbles, u32 unit, u32 less)
{
    return fma2(both_of_byte<C>(nibbles << 1 | 0x01010101u, K1024), unit, less);
}

// Values 8, 25, 43 by number 0, 1, 2 in bits 1 and 2 of a nibble, whose bit 0 is the sign: bytes 128 +- value.
INLINE void of_three(u32 numbers, u32 (&out)[4])
{
    widen(permute(0x67997888u, 0x000055ABu, numbers), K1024, out[0], out[1]);
    widen(permute(0x67997888u, 0x000055ABu, numbers >> 16), K1024, out[2], out[3]);
}

INLINE void finish_iq2(u32 scale, u32 d, u32 (&out)[4])
{
    scaled(out, scale, mul2(scale, MINUS_1152));
    times(out, d);
}

struct IQ2_XXS {
    static constexpr int VALUES = 256, BYTES = 66, PITCH = 80, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 256, SIGN_BITS = 7, ROW_VALUES = 8;
    typedef u32 state;
    INLINE state open(const place &at) { return both(half_at(at.block)); }
    template <int C> INLINE void chunk(const place &at, state d, u32 (&out)[4])
    {
        const byte *group = at.block + 2 + 32 * at.h + 8 * C;
        const u32 tail = loose_word(group + 4);
        of_three(at.grid[group[at.t]] ^ at.signs[tail >> (7 * at.t) & 127], out);
        finish_iq2(odd_scale<0>(tail >> 28, EIGHTH, MINUS_128), d, out);
    }
    template <int P> INLINE void pair(const place &at, const state &d, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, d, one);
        chunk<2 * P + 1>(at, d, two);
    }
};

struct IQ2_XS {
    static constexpr int VALUES = 256, BYTES = 74, PITCH = 96, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 512, SIGN_BITS = 7, ROW_VALUES = 8;
    typedef scaled_state state;
    INLINE state open(const place &at)
    {
        return {loose_word(at.block + 66 + 4 * at.h) >> (4 * (at.t >> 1)) & NIBBLES, both(half_at(at.block))};
    }
    template <int C> INLINE void chunk(const place &at, const state &s, u32 (&out)[4])
    {
        const u32 code = half_at(at.block + 2 + 32 * at.h + 8 * C + 2 * at.t);
#if SIGNS_BY_RULE
        of_three(at.grid[code & 511] ^ parity_signs(code >> 9), out);
#else
        of_three(at.grid[code & 511] ^ at.signs[code >> 9], out);
#endif
        finish_iq2(odd_scale<C>(s.scales, EIGHTH, MINUS_128), s.d, out);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, s, one);
        chunk<2 * P + 1>(at, s, two);
    }
};

struct IQ2_S {
    static constexpr int VALUES = 256, BYTES = 82, PITCH = 96, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 1024, SIGN_BITS = 8, ROW_VALUES = 8;
    struct state {
        u32 scales, upper, d;
    };
    INLINE state open(const place &at)
    {
        const u32 upper = loose_word(at.block + 66 + 4 * at.h) >> (2 * at.t) & 0x03030303u;
        return {loose_word(at.block + 74 + 4 * at.h) >> (4 * (at.t >> 1)) & NIBBLES, upper, both(half_at(at.block))};
    }
    template <int C> INLINE void chunk(const place &at, const state &s, u32 (&out)[4])
    {
        const byte *mine = at.block + 2 + 16 * at.h + 4 * C + at.t;
        of_three(at.grid[permute(mine[0], s.upper, 0x3340 | C << 4)] ^ at.signs[mine[32]], out);
        finish_iq2(odd_scale<C>(s.scales, EIGHTH, MINUS_128), s.d, out);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, s, one);
        chunk<2 * P + 1>(at, s, two);
    }
};

// Two rows of four values each, as bytes; signs change the halves.
INLINE void of_two_rows(u32 first, u32 second, u32 scale, u32 d, u32 signs, u32 (&out)[4])
{
    widen(first, K1024, out[0], out[1]);
    widen(second, K1024, out[2], out[3]);
    scaled(out, scale, mul2(scale, MINUS_1024));
#pragma unroll
    for (int i = 0; i < 4; i++)
        out[i] ^= signs << i & SIGNS;
    times(out, d);
}

struct IQ3_XXS {
    static constexpr int VALUES = 256, BYTES = 98, PITCH = 112, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 256, SIGN_BITS = 7, ROW_VALUES = 4;
    typedef u32 state;
    INLINE state open(const place &at) { return both(half_at(at.block)); }
    template <int C> INLINE void chunk(const place &at, state d, u32 (&out)[4])
    {
        const int group = 4 * at.h + C;
        const u32 codes = half_at(at.block + 2 + 8 * group + 2 * at.t), tail = loose_word(at.block + 66 + 4 * group);
        const u32 scale = odd_scale<0>(tail >> 28, QUARTER, MINUS_256);
        of_two_rows(at.grid[codes & 255], at.grid[codes >> 8], scale, d, at.signs[tail >> (7 * at.t) & 127], out);
    }
    template <int P> INLINE void pair(const place &at, const state &d, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, d, one);
        chunk<2 * P + 1>(at, d, two);
    }
};

struct IQ3_S {
    static constexpr int VALUES = 256, BYTES = 110, PITCH = 144, PARTNER = 1, SPLIT = 0, HALVED = 0, GRID = 512, SIGN_BITS = 8, ROW_VALUES = 4;
    struct state {
        u32 scales, upper, d;
    };
    // Scales of four chunks are the four nibbles of two bytes.
    INLINE state open(const place &at)
    {
        const u32 pairs = half_at(at.block + 106 + 2 * at.h), spread = permute(pairs, pairs >> 4, 0x5140);
        return {spread & NIBBLES, loose_word(at.block + 66 + 4 * at.h) >> (2 * at.t) & 0x03030303u, both(half_at(at.block))};
    }
    template <int C> INLINE void chunk(const place &at, const state &s, u32 (&out)[4])
    {
        const int group = 4 * at.h + C;
        const u32 codes = half_at(at.block + 2 + 8 * group + 2 * at.t), upper = s.upper >> (8 * C);
        const u32 first = (codes & 255) | (upper << 8 & 256), second = codes >> 8 | (upper << 7 & 256);
        const u32 signs = at.signs[at.block[74 + 4 * group + at.t]];
        of_two_rows(at.grid[first], at.grid[second], odd_scale<C>(s.scales, ONE, MINUS_1024), s.d, signs, out);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, s, one);
        chunk<2 * P + 1>(at, s, two);
    }
};

// Sixteen signed values; a byte holds the codes of two values 16 apart, so lane t owns 4t .. 4t+3 and 16+4t .. 16+4t+3 of a chunk.
struct IQ4_XS {
    static constexpr int VALUES = 256, BYTES = 136, PITCH = 144, PARTNER = 1, SPLIT = 1, HALVED = 0, GRID = 0, SIGN_BITS = 0, ROW_VALUES = 8;
    typedef scaled_state state;
    // Six bits a scale: four chunks' low nibbles in two bytes, two upper bits each in one byte.
    INLINE state open(const place &at)
    {
        const uint2 head = words_at(at.block);
        const u32 pairs = head.y >> (16 * at.h), low = permute(pairs, pairs >> 4, 0x5140) & NIBBLES;
        const u32 upper = head.x >> (16 + 8 * at.h), two = (upper | upper << 12) & 0x000F000Fu, four = (two | two << 6) & 0x03030303u;
        return {low | four << 4, both(head.x)};
    }
    template <int C> INLINE void chunk(const place &at, const state &s, u32 (&out)[4])
    {
        const u32 codes = word_at(at.block + 8 + 64 * at.h + 16 * C + 4 * at.t), places = codes & 0x77777777u;
        const u32 choice = 0x32103210u | (codes >> 1 & 0x44444444u);
        u32 bytes[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {  // two low and two high codes: bytes 128 + value
            const u32 negative = permute(0x3F2D1801u, 0x766A5D4Fu, places >> (16 * i));
            const u32 positive = permute(0xA6998D81u, 0xF1D9C5B5u, places >> (16 * i));
            bytes[i] = permute(negative, positive, choice >> (16 * i));
        }
        out[0] = permute(bytes[0], K1024, 0x4240), out[1] = permute(bytes[1], K1024, 0x4240);
        out[2] = permute(bytes[0], K1024, 0x4341), out[3] = permute(bytes[1], K1024, 0x4341);
        const u32 scale = add2(both_of_byte<C>(s.scales, K1024), 0xE420E420u);  // -1056
        scaled(out, scale, mul2(scale, MINUS_1152));
        times(out, s.d);
    }
    template <int P> INLINE void pair(const place &at, const state &s, u32 (&one)[4], u32 (&two)[4])
    {
        chunk<2 * P>(at, s, one);
        chunk<2 * P + 1>(at, s, two);
    }
};

// What the table of signs holds for a byte, or for seven bits: nibbles where a row has eight values, words where it has four.
template <class F> INLINE u32 sign_entry(u32 bits)
{
    const u32 eight = F::SIGN_BITS == 7 ? with_parity(bits & 127) : bits;
    return F::ROW_VALUES == 8 ? nibble_signs(eight) : word_signs(eight);
}
