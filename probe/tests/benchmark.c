/* The runner without the engine: the table has every chosen row in every round, with the counts
 * that actually ran. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

/* A fake clock: a read takes 40 ticks, a body 100 or 1000, an init 7. */
static uint64_t ticks;
static uint64_t read_ours(void) { return ticks += 40; }
#define HAIRSPRING_READ_CLOCK read_ours
#include "hairspring.h"

#undef NDEBUG
#include <assert.h>

static int64_t set_up_with;
static void set_up(int64_t argument) { set_up_with = argument; }

HAIRSPRING_BENCHMARK(hundred, (uint64_t added = 100; HAIRSPRING_OPAQUE(added)), ticks += added);
HAIRSPRING_BENCHMARK(thousand, (uint64_t added = 1000; HAIRSPRING_OPAQUE(added)), ticks += added);
HAIRSPRING_BENCHMARK(as_asked, (int64_t more = argument), ticks += (uint64_t)more);
HAIRSPRING_BENCHMARK_INIT(both, (uint64_t a = 100, b = 7), (ticks += b), ticks += a);

static char text[1 << 20];
static size_t length;
static void put(char letter) {
  assert(length + 1 < sizeof text);
  text[length++] = letter;
}

static const char *observed(const struct hairspring_entry *entries, size_t count, unsigned rounds,
    uint64_t longest) {
  struct hairspring_rounds how = {rounds, longest, put, 1, 0};
  memset(text, 0, sizeof text);
  length = 0;
  hairspring_observe_all(&how, entries, count);
  return text;
}

static unsigned count_of(const char *part) {
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += 1) count += 1;
  return count;
}

static void every_row_is_there_in_every_round(void) {
  const struct hairspring_entry entry = {.benchmark = &thousand};
  observed(&entry, 1, 5, UINT64_MAX);
  assert(count_of("\"thousand\",") == 5 * 12);
  assert(count_of("\"thousand\",256,0,") == 5 && count_of(",256040\n") == 5);
  assert(count_of("\"thousand\",1,0,4,1040\n") == 1);
  assert(strstr(text, "# serves: init\nseries,body,init,round,ticks\n") != NULL);
}

/* Short bodies run in blocks, where processors learn code; the table has the bodies of all runs. */
static void short_bodies_run_in_blocks(void) {
  const struct hairspring_entry entry = {.benchmark = &hundred};
  observed(&entry, 1, 5, UINT64_MAX);
#if defined(__x86_64__) || defined(__aarch64__)
  assert(count_of("\"hundred\",") == 5 * 6);
  assert(count_of("\"hundred\",64,0,") == 5 && count_of(",6440\n") == 5);
#else
  assert(count_of("\"hundred\",") == 5 * 12);
#endif
  assert(count_of("\"hundred\",256,0,") == 5 && count_of(",25640\n") == 5);
}

static void long_rows_are_left_out_but_for_four(void) {
  const struct hairspring_entry entry = {.benchmark = &thousand};
  observed(&entry, 1, 2, 17000);
  assert(count_of("\"thousand\",") == 2 * 6 && count_of("\"thousand\",16,0,") == 2);
  observed(&entry, 1, 2, 0);
  assert(count_of("\"thousand\",") == 2 * 4);
}

static void inits_and_bodies_are_counted(void) {
  const struct hairspring_entry entry = {.benchmark = &both};
  observed(&entry, 1, 1, UINT64_MAX);
  assert(count_of("\"both\",1,2,0,154\n") == 1);
  assert(count_of("\"both\",32,48,0,3576\n") == 1);
}

static void arguments_are_in_the_name(void) {
  const struct hairspring_entry entry = {
      .benchmark = &as_asked, .setup = set_up, .argument_name = "si\"ze\n",
          .arguments = {640, 4096, 200}, .argument_count = 3};
  observed(&entry, 1, 1, UINT64_MAX);
  assert(count_of("\"as_asked/si\"\"ze :640\",1,0,0,680\n") == 1);
  assert(count_of("\"as_asked/si\"\"ze :4096\",2,0,0,8232\n") == 1);
  assert(count_of("\"as_asked/si\"\"ze :200\",1,0,0,240\n") == 1 && set_up_with == 200);
}

static void the_watch_takes_its_overhead_off(void) {
  struct hairspring_watch watch = hairspring_watch_new();
  assert(watch.overhead_ticks > 39.99 && watch.overhead_ticks < 40.01 &&
      watch.overhead_variance < 0.01);
  hairspring_watch_start(&watch);
  ticks += 1234;
  double found_ticks = hairspring_watch_ticks(&watch);
  assert(found_ticks > 1233.99 && found_ticks < 1234.01);
  hairspring_watch_start(&watch);
  ticks -= 30;
  assert(hairspring_watch_ticks(&watch) < -29.99);
}

int main(void) {
  every_row_is_there_in_every_round();
  short_bodies_run_in_blocks();
  long_rows_are_left_out_but_for_four();
  inits_and_bodies_are_counted();
  arguments_are_in_the_name();
  the_watch_takes_its_overhead_off();
  return 0;
}
