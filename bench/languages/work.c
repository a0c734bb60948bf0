#include "work.h"

#include <string.h>

#if !defined(__x86_64__)
#error "these chains are x86-64 instructions"
#endif

#define COUNT 16

static const int32_t unsorted[COUNT] = {9, 2, 15, 0, 7, 12, 4, 11, 1, 14, 6, 3, 13, 8, 10, 5};
static int32_t numbers[COUNT];
static uint64_t product = 0x0123456789abcdef;

void work_nothing(void) {}

void work_fill(void) { memcpy(numbers, unsorted, sizeof numbers); }

void work_sort_these(int32_t *these) {
  for (int at = 1; at < COUNT; at += 1) {
    int32_t number = these[at];
    int place = at;
    for (; place > 0 && these[place - 1] > number; place -= 1) these[place] = these[place - 1];
    these[place] = number;
  }
}

void work_sort(void) { work_sort_these(numbers); }

void work_network(void) {
#pragma GCC unroll 16
  for (int round = 0; round < COUNT; round += 1) {
#pragma GCC unroll 16
    for (int at = round % 2; at + 1 < COUNT; at += 2) {
      int32_t a = numbers[at], b = numbers[at + 1];
      numbers[at] = a < b ? a : b;
      numbers[at + 1] = a < b ? b : a;
    }
  }
}

int work_is_sorted(void) {
  for (int at = 1; at < COUNT; at += 1) {
    if (numbers[at - 1] > numbers[at]) return 0;
  }
  return 1;
}

void work_chain_300(void) {
  uint64_t x = product;
  __asm__ volatile(".rept 100\n\timulq %1, %0\n\t.endr" : "+r"(x) : "r"(0x9e3779b97f4a7c15) : "cc");
  product = x;
}

void work_chain_30000(void) {
  uint64_t x = product;
  uint32_t n = 10;
  __asm__ volatile("2:\n\t.rept 1000\n\timulq %2, %0\n\t.endr\n\tdecl %1\n\tjnz 2b" : "+r"(x),
      "+r"(n) : "r"(0x9e3779b97f4a7c15) : "cc");
  product = x;
}
