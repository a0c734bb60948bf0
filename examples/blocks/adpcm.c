/* An IMA ADPCM encoder: 16-bit samples become 4-bit codes. The program makes COUNT samples, encodes
 * them and prints a sum of the codes:
 *
 *   cc -O2 -g adpcm.c -o adpcm
 *   hairspring blocks ./adpcm --function encode --generate 'python3 inputs.py'
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int step_sizes[89] = {
    7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,    21,    23,
    25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,    73,    80,
    88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,   253,   279,
    307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,
    1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749,  3024,  3327,
    3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493,  10442, 11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};

static const int index_changes[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

struct coder {
  int predicted;
  int index;
};

__attribute__((noinline))
    void encode(struct coder *coder, const int16_t *samples, int count, uint8_t *codes) {
  int predicted = coder->predicted;
  int index = coder->index;
  for (int i = 0; i < count; i++) {
    int step = step_sizes[index];
    int difference = samples[i] - predicted;
    int code = 0;
    int change = step >> 3;
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
    predicted += code & 8 ? -change : change;
    if (predicted > 32767)
      predicted = 32767;
    if (predicted < -32768)
      predicted = -32768;
    index += index_changes[code & 7];
    if (index < 0)
      index = 0;
    if (index > 88)
      index = 88;
    codes[i] = (uint8_t)code;
  }
  coder->predicted = predicted;
  coder->index = index;
}

/* COUNT AMPLITUDE SEED */
int main(int argc, char **argv) {
  enum { MOST = 4096 };
  static int16_t samples[MOST];
  static uint8_t codes[MOST];
  int count = argc > 1 ? atoi(argv[1]) : 64;
  int amplitude = argc > 2 ? atoi(argv[2]) : 1000;
  uint32_t random = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
  if (count < 0 || count > MOST || amplitude < 0 || amplitude > 32767) {
    fprintf(stderr, "usage: adpcm COUNT(0-%d) AMPLITUDE(0-32767) SEED\n", MOST);
    return 2;
  }
  for (int i = 0; i < count; i++) {
    random = random * 1664525u + 1013904223u;
    samples[i] = (int16_t)((int)(random >> 16) % (2 * amplitude + 1) - amplitude);
  }
  struct coder coder = {0, 0};
  encode(&coder, samples, count, codes);
  unsigned sum = 0;
  for (int i = 0; i < count; i++) sum = sum * 31 + codes[i];
  printf("%u\n", sum);
  return 0;
}
