/* /dev/hairspring_cycles: what the kernel module of probe/linux/ shows to programs. The file is
 * mapped read-only; slot 0 is the header, and CPU n has slot n + 1. Needs uint32_t and uint64_t. */
#ifndef HAIRSPRING_ARM_PAGE_H
#define HAIRSPRING_ARM_PAGE_H

#define HAIRSPRING_CYCLES_DEVICE "hairspring_cycles"
#define HAIRSPRING_CYCLES_MAGIC 0x68737063u
#define HAIRSPRING_CYCLES_VERSION 1u
/* Checks the counter of the CPU that the caller is on, now, and updates its slot. */
#define HAIRSPRING_CYCLES_CHECK 0x6800u

struct hairspring_cycles_header {
  uint32_t magic;
  uint32_t version;
  uint32_t slots; /* including this one */
  uint32_t divided; /* 1: a tick is 64 cycles */
  uint32_t unused[12];
};

#define HAIRSPRING_CYCLES_ON 1u    /* state: this CPU's counter is on and can be read */
#define HAIRSPRING_CYCLES_TAKEN 2u /* state: the kernel's perf uses the counter now */

/* A CPU's counter: ticks are base + (counter - low), where counter - low has the counter's own
 * width. Only this CPU writes its slot; `sequence` is odd while it does. */
struct hairspring_cycles_slot {
  uint32_t sequence;
  uint32_t state;
  uint32_t disturbed; /* how often somebody else stopped or changed the counter */
  uint32_t powered;   /* how often the core lost the counter in an idle state or was switched off */
  uint64_t base;
  uint64_t low;
  uint32_t events; /* disturbed + powered */
  uint32_t unused[7];
};

#endif
