/* The C functions that every language and every peer times. They are compiled once, into one
 * object, so that instruments are compared and not compilers. x86-64. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An empty function: its time is that of its call. */
void work_nothing(void);

/* Makes the 16 numbers anew, and sorts them by insertion. */
void work_fill(void);
void work_sort(void);

/* The same sort of 16 numbers of the caller. */
void work_sort_these(int32_t *these);

/* Sorts them without a branch: odd-even transposition, written out. Its time does not depend on
 * what a branch predictor has learned. */
void work_network(void);

/* 1 if the numbers are sorted. */
int work_is_sorted(void);

/* 100 dependent multiplications, 300 cycles; each call waits for the one before through a variable
 * in memory. */
void work_chain_300(void);

/* The same with 10,000 of them. */
void work_chain_30000(void);

#ifdef __cplusplus
}
#endif

#endif
