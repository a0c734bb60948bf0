/* An IMA ADPCM coder, of 16 bits to 4. */
#ifndef CODER_H
#define CODER_H

#include <stdint.h>

struct coder {
  int16_t predicted;
  int8_t index; /* of the step, 0 to 88 */
};

/* Codes `count` samples, two to a byte, the first in the high half. */
void code_samples(struct coder *coder, const int16_t *samples, uint8_t *coded, uint8_t count);

#endif
