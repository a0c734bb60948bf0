/* The chains of the truth table for C and C++: their lengths in core cycles are known (xor 1, imul
 * 3). */
#ifndef CHAINS_H
#define CHAINS_H

#define CHAIN_1(x, c) __asm__ volatile("xorq %1, %0" : "+r"(x) : "r"(c) : "cc")
#define CHAIN_3(x, c) __asm__ volatile("imulq %1, %0" : "+r"(x) : "r"(c) : "cc")
#define CHAIN_30(x, c) \
    __asm__ volatile(".rept 10\n\timulq %1, %0\n\t.endr" : "+r"(x) : "r"(c) : "cc")
#define CHAIN_120(x, c) \
    __asm__ volatile(".rept 40\n\timulq %1, %0\n\t.endr" : "+r"(x) : "r"(c) : "cc")

#endif
