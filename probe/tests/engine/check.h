/* Checks for the tests that link with the engine: the first failure ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include "hairspring_engine.h"

#include <stdio.h>
#include <stdlib.h>

/* Text of the last error of this thread. */
static inline const char *last_error(void) {
  static _Thread_local char text[400];
  hairspring_last_error(text, sizeof text);
  return text;
}

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
          last_error()); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define CHECK_OK(call) CHECK((call) == HAIRSPRING_STATUS_OK)

#endif
