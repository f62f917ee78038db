/* Philox4x32-10 as reportgen/philox.py defines it, for C and for CUDA: word i of a stream depends on (seed, stream, i) alone. */
#ifndef REPORTGEN_PHILOX_H
#define REPORTGEN_PHILOX_H

#ifdef __CUDACC__
#define REPORTGEN_BOTH static __host__ __device__ __forceinline__
#else
#define REPORTGEN_BOTH static inline
#endif

typedef struct {
    unsigned int lane[4];
} reportgen_block;

/* Words 4 * block to 4 * block + 3. */
REPORTGEN_BOTH reportgen_block reportgen_philox(unsigned long long seed, unsigned long long stream, unsigned long long block)
{
    unsigned int a = (unsigned int)block, b = (unsigned int)(block >> 32);
    unsigned int c = (unsigned int)stream, d = (unsigned int)(stream >> 32);
    unsigned int key0 = (unsigned int)seed, key1 = (unsigned int)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        unsigned long long one = (unsigned long long)a * 0xD2511F53u, two = (unsigned long long)c * 0xCD9E8D57u;
        a = (unsigned int)(two >> 32) ^ b ^ key0;
        b = (unsigned int)two;
        c = (unsigned int)(one >> 32) ^ d ^ key1;
        d = (unsigned int)one;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    reportgen_block made = {{a, b, c, d}};
    return made;
}

/* In [-1, 1): the upper 24 bits of a word, exact in single precision. */
REPORTGEN_BOTH float reportgen_uniform(unsigned int word)
{
    return (float)(word >> 8) * 1.1920928955078125e-7f - 1.0f;
}

#endif
