/* The coder of the IMA's recommended practices for ADPCM, written from its description: the
 * difference to the predicted sample in steps whose size follows the signal, with three bits and a
 * sign. */
#include "coder.h"

static const int16_t steps[89] = {
    7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,    21,    23,
    25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,    73,    80,
    88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,   253,   279,
    307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,
    1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749,  3024,  3327,
    3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493,  10442, 11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
static const int8_t index_changes[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

void code_samples(struct coder *coder, const int16_t *samples, uint8_t *coded, uint8_t count) {
  int32_t predicted = coder->predicted;
  int8_t index = coder->index;
  uint8_t high = 0, is_high = 1;
  for (; count > 0; count--) {
    int16_t step = steps[index];
    int32_t difference = *samples++ - predicted;
    int32_t change = step >> 3;
    uint8_t code = 0;
    if (difference < 0) {
      code = 8;
      difference = -difference;
    }
    if (difference >= step) {
      code |= 4;
      difference -= step;
      change += step;
    }
    step >>= 1;
    if (difference >= step) {
      code |= 2;
      difference -= step;
      change += step;
    }
    step >>= 1;
    if (difference >= step) {
      code |= 1;
      change += step;
    }
    if (code & 8)
      predicted -= change;
    else
      predicted += change;
    if (predicted > INT16_MAX)
      predicted = INT16_MAX;
    else if (predicted < INT16_MIN)
      predicted = INT16_MIN;
    index = (int8_t)(index + index_changes[code & 7]);
    if (index < 0) index = 0;
    if (index > 88) index = 88;
    if (is_high)
      high = (uint8_t)(code << 4);
    else
      *coded++ = high | code;
    is_high = !is_high;
  }
  if (!is_high) *coded = high;
  coder->predicted = (int16_t)predicted;
  coder->index = index;
}
