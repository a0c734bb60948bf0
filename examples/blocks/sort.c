/* Insertion sort of numbers. The first argument is their count, the second the seed of their order:
 *
 *   cc -O1 -g sort.c -o sort
 *   hairspring blocks ./sort --function insertion_sort --generate 'python3 messages.py 24'
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void insertion_sort(int *numbers, int count) {
  for (int i = 1; i < count; i++) {
    int moving = numbers[i];
    int place = i;
    while (place > 0 && numbers[place - 1] > moving) {
      numbers[place] = numbers[place - 1];
      place--;
    }
    numbers[place] = moving;
  }
}

int main(int argc, char **argv) {
  static int numbers[1024];
  int count = argc > 1 ? atoi(argv[1]) : 0;
  uint32_t state = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
  if (count < 0 || count > 1024) return 2;
  for (int i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    numbers[i] = (int)(state >> 8);
  }
  insertion_sort(numbers, count);
  printf("%d\n", count > 0 ? numbers[count / 2] : 0);
  return 0;
}
