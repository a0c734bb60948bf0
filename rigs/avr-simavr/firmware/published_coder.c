/* The coder of the report's Table 2 is MiBench's `adpcm_coder`, the reference coder of Intel's and
 * the IMA's DVI ADPCM. This one is written anew from the published algorithm, in its order of
 * steps, with numbers of the type `int`. On AVR that has 16 bits, so the limits of the prediction
 * never hold, and the compiler leaves them out. The report names blocks without their code: the
 * names below are at the statements that its times fit. */
#include "coder.h"

static const int step_sizes[89] = {
    7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,    21,    23,
    25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,    73,    80,
    88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,   253,   279,
    307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,
    1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749,  3024,  3327,
    3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493,  10442, 11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
static const int index_steps[16] = {-1, -1, -1, -1, 2, 4, 6, 8, -1, -1, -1, -1, 2, 4, 6, 8};

void code_samples(struct coder *coder, const int16_t *samples, uint8_t *coded, uint8_t count) {
  int predicted = coder->predicted, index = coder->index, step = step_sizes[index];
  int pending = 0, first = 1;
  for (int left = count; left > 0; left--) {
    int difference = *samples++ - predicted; /* BB1 */
    int sign = difference < 0 ? 8 : 0;
    if (sign)
      difference = -difference; /* BB2 */
    int code = 0, change = step >> 3;
    if (difference >= step) {
      code = 4; /* BB4 */
      difference -= step;
      change += step;
    }
    step >>= 1;
    if (difference >= step) {
      code |= 2; /* BB6 */
      difference -= step;
      change += step;
    }
    step >>= 1;
    if (difference >= step) {
      code |= 1; /* BB8 */
      change += step;
    }
    if (sign)
      predicted -= change;
    else
      predicted += change;
    if (predicted > 32767)
      predicted = 32767;
    else if (predicted < -32768)
      predicted = -32768;
    code |= sign;
    index += index_steps[code];
    if (index < 0) index = 0;
    if (index > 88) index = 88;
    step = step_sizes[index];
    if (first)
      pending = code << 4 & 0xf0;
    else
      *coded++ = (uint8_t)((code & 0x0f) | pending); /* BB18 */
    first = !first;
  }
  if (!first) *coded = (uint8_t)pending;
  coder->predicted = (int16_t)predicted;
  coder->index = (int8_t)index;
}
