/* The code that disassembly.py checks. Every function tests one property of hairspring.h. */
#include "hairspring.h"

void use_integer(uint64_t x);
void use_small(unsigned char x);
void use_pointer(const char *x);
void use_float(float x);
void use_double(double x);
void use_memory(void);
uint64_t opaque_integer(uint64_t x);
double opaque_double(double x);
void use_product(uint64_t x, uint64_t y);
int opaque_constant(void);
uint64_t copies_1(uint64_t x, uint64_t c);
uint64_t copies_24(uint64_t x, uint64_t c);
uint64_t copies_256(uint64_t x, uint64_t c);
void independent_8(uint64_t x, uint64_t c);
uint64_t read_clock(void);

void use_integer(uint64_t x) { HAIRSPRING_USE(x); }
void use_small(unsigned char x) { HAIRSPRING_USE(x); }
void use_pointer(const char *x) { HAIRSPRING_USE(x); }
void use_float(float x) { HAIRSPRING_USE(x); }
void use_double(double x) { HAIRSPRING_USE(x); }
void use_memory(void) { HAIRSPRING_USE_MEMORY(); }
uint64_t opaque_integer(uint64_t x) {
  HAIRSPRING_OPAQUE(x);
  return x;
}
double opaque_double(double x) {
  HAIRSPRING_OPAQUE(x);
  return x;
}
/* The product is used, so it is computed. */
void use_product(uint64_t x, uint64_t y) { HAIRSPRING_USE(x * y); }
/* The value is unknown, so the square is computed. */
int opaque_constant(void) {
  int x = 3;
  HAIRSPRING_OPAQUE(x);
  return x * x;
}
uint64_t copies_1(uint64_t x, uint64_t c) {
  HAIRSPRING_REPEAT_1(x *= c)
  return x;
}
/* Without the barrier the copies would merge into one power. */
uint64_t copies_24(uint64_t x, uint64_t c) {
  HAIRSPRING_REPEAT_24(x *= c; HAIRSPRING_OPAQUE(x))
  return x;
}
uint64_t copies_256(uint64_t x, uint64_t c) {
  HAIRSPRING_REPEAT_256(x *= c; HAIRSPRING_OPAQUE(x))
  return x;
}
/* ... and equal copies into a single product. */
void independent_8(uint64_t x, uint64_t c) {
  HAIRSPRING_REPEAT_8(HAIRSPRING_OPAQUE(x); HAIRSPRING_USE(x * c))
}
uint64_t read_clock(void) { return hairspring_now(); }
