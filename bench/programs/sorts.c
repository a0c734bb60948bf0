// An insertion sort, twice at places of its own: equal code in functions that the rows call.
#define SORT(name)                                                                            \
  __attribute__((noipa)) void name(int *v) {                                                  \
    for (int i = 1; i < 16; i++) {                                                            \
      int x = v[i], j = i;                                                                    \
      while (j > 0 && v[j - 1] > x) {                                                         \
        v[j] = v[j - 1];                                                                      \
        j--;                                                                                  \
      }                                                                                       \
      v[j] = x;                                                                               \
    }                                                                                         \
  }

SORT(sort)
SORT(sort_again)
