/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs a firmware for AVR in libsimavr, cycle by cycle, and writes what it did:
 *
 *   simulate FIRMWARE.elf [--mcu NAME] [--frequency HZ] [--pin B7] [--seconds LIMIT] [--edges FILE]
 *            [--vcd FILE] [--uart FILE] [--from ADDRESS --to ADDRESS --steps FILE]
 *
 *   --edges    each change of the pin: `cycle level`
 *   --vcd      the same as a value change dump, in picoseconds, rounded if a cycle is not a whole
 *              number of them
 *   --uart     the output of the firmware on serial line 0
 *   --steps    each window (the pin high) as lines `window,from,to,count,cycles`: how often the
 *              instruction at byte address `from`, within the addresses of --from and --to, was
 *              followed by the one at `to`, and its cycles; and one line `window,,,,cycles` with
 *              the cycles from edge to edge
 *
 * It ends when the firmware sleeps with interrupts off. Exit status: 0 at this end, 1 the firmware
 * crashed or anything failed, 2 wrong arguments, 3 the limit of simulated seconds was reached.
 *
 * libsimavr is free software under the GPL, version 3 or later, and so is this program: see
 * README.md. It runs as a separate program, and nothing of Hairspring is linked with it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include <avr_ioport.h>
#include <avr_uart.h>
#include <sim_avr.h>
#include <sim_elf.h>
#pragma GCC diagnostic pop

#define MOST_SUCCESSORS 4

struct options {
  const char *firmware, *mcu, *edges, *vcd, *uart, *steps;
  uint32_t frequency, from, to;
  double seconds;
  char port;
  unsigned bit;
};

struct successor {
  uint32_t to;
  uint64_t count, cycles;
};

struct instruction {
  struct successor after[MOST_SUCCESSORS];
};

struct recorder {
  avr_t *avr;
  FILE *edges, *vcd, *uart, *steps;
  struct instruction *instructions; /* one for each word from `from` */
  uint32_t from, to;
  uint64_t opened, windows;
  int level; /* -1 before the first */
  bool failed;
};

static FILE *open_for_writing(const char *path) {
  FILE *file;
  if (path == NULL) return NULL;
  file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  return file;
}

/* ---- windows ---- */

static size_t words(const struct recorder *recorder) { return (recorder->to - recorder->from) / 2; }

static void write_window(struct recorder *recorder) {
  size_t at, next;
  fprintf(recorder->steps, "%" PRIu64 ",,,,%" PRIu64 "\n", recorder->windows,
      recorder->avr->cycle - recorder->opened);
  for (at = 0; at < words(recorder); at += 1) {
    for (next = 0; next < MOST_SUCCESSORS; next += 1) {
      const struct successor *after = &recorder->instructions[at].after[next];
      if (after->count == 0) break;
      fprintf(recorder->steps, "%" PRIu64 ",%zu,%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n",
          recorder->windows,
              (size_t)recorder->from + 2 * at, after->to, after->count, after->cycles);
    }
  }
}

static void count_step(struct recorder *recorder, uint32_t from, uint32_t to, uint64_t cycles) {
  struct successor *after;
  size_t next;
  if (recorder->level != 1 || from < recorder->from || from >= recorder->to) return;
  after = recorder->instructions[(from - recorder->from) / 2].after;
  for (next = 0; next < MOST_SUCCESSORS; next += 1) {
    if (after[next].count == 0) after[next].to = to;
    if (after[next].to == to) {
      after[next].count += 1;
      after[next].cycles += cycles;
      return;
    }
  }
  fprintf(stderr, "simulate: the instruction at %#" PRIx32 " has more than %d successors\n", from,
      MOST_SUCCESSORS);
  recorder->failed = true;
}

/* ---- the pin and the serial line ---- */

static void write_vcd_change(struct recorder *recorder) {
  uint64_t hertz = recorder->avr->frequency, seconds = recorder->avr->cycle / hertz,
      rest = recorder->avr->cycle % hertz;
  uint64_t picoseconds =
      seconds * UINT64_C(1000000000000) + (rest * UINT64_C(1000000) * 1000000 + hertz / 2) / hertz;
  fprintf(recorder->vcd, "#%" PRIu64 "\n%d!\n", picoseconds, recorder->level);
}

/* Called for every write to the port, changed or not. */
static void on_pin(struct avr_irq_t *irq, uint32_t value, void *parameter) {
  struct recorder *recorder = parameter;
  int level = value != 0, before = recorder->level;
  (void)irq;
  if (level == before) return;
  recorder->level = level;
  if (before == -1 && level == 0) return; /* the pin becomes an output */
  if (recorder->edges != NULL)
    fprintf(recorder->edges, "%" PRIu64 " %d\n", (uint64_t)recorder->avr->cycle, level);
  if (recorder->vcd != NULL) write_vcd_change(recorder);
  if (recorder->steps == NULL) return;
  if (level == 1) {
    recorder->opened = recorder->avr->cycle;
    memset(recorder->instructions, 0, words(recorder) * sizeof *recorder->instructions);
  } else {
    write_window(recorder);
    recorder->windows += 1;
  }
}

static void on_uart(struct avr_irq_t *irq, uint32_t value, void *parameter) {
  struct recorder *recorder = parameter;
  (void)irq;
  fputc((int)(value & 0xff), recorder->uart);
}

/* Without this libsimavr would wait as long as the chip sleeps. */
static void do_not_wait(struct avr_t *avr, avr_cycle_count_t cycles) {
  (void)avr;
  (void)cycles;
}

/* Its log goes to standard error, errors only. */
static void log_errors(struct avr_t *avr, const int level, const char *format, va_list arguments) {
  (void)avr;
  if (level <= LOG_ERROR) vfprintf(stderr, format, arguments);
}

/* ---- running ---- */

static avr_t *load(const struct options *options) {
  elf_firmware_t firmware;
  avr_t *avr;
  memset(&firmware, 0, sizeof firmware);
  if (elf_read_firmware(options->firmware, &firmware) != 0) {
    fprintf(stderr, "simulate: %s is not a firmware that can be read\n", options->firmware);
    return NULL;
  }
  firmware.tracecount = 0;
  avr = avr_make_mcu_by_name(options->mcu);
  if (avr == NULL) {
    fprintf(stderr, "simulate: libsimavr does not know the part %s\n", options->mcu);
    return NULL;
  }
  avr_init(avr);
  firmware.frequency = options->frequency;
  avr_load_firmware(avr, &firmware);
  avr->frequency = options->frequency;
  avr->sleep = do_not_wait;
  return avr;
}

static void listen(struct recorder *recorder, const struct options *options) {
  uint32_t flags = 0;
  avr_t *avr = recorder->avr;
  avr_irq_register_notify(avr_io_getirq(avr, (uint32_t)AVR_IOCTL_IOPORT_GETIRQ(options->port),
      (int)options->bit), on_pin, recorder);
  avr_ioctl(avr, (uint32_t)AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
  flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
  avr_ioctl(avr, (uint32_t)AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
  if (recorder->uart != NULL)
    avr_irq_register_notify(avr_io_getirq(avr, (uint32_t)AVR_IOCTL_UART_GETIRQ('0'),
        UART_IRQ_OUTPUT), on_uart, recorder);
  if (recorder->vcd != NULL)
    fprintf(recorder->vcd,
        "$version simavr $end\n$timescale 1 ps $end\n$scope module chip $end\n$var wire 1 ! P%c%u "
        "$end\n$upscope $end\n"
                           "$enddefinitions $end\n#0\n$dumpvars\n0!\n$end\n", options->port,
                               options->bit);
}

static int run(struct recorder *recorder, double seconds) {
  avr_t *avr = recorder->avr;
  uint64_t limit = (uint64_t)(seconds * avr->frequency);
  int state = cpu_Running;
  while (state != cpu_Done && state != cpu_Crashed && !recorder->failed && avr->cycle < limit) {
    uint32_t from = avr->pc;
    uint64_t before = avr->cycle;
    state = avr_run(avr);
    if (recorder->steps != NULL) count_step(recorder, from, avr->pc, avr->cycle - before);
  }
  if (state == cpu_Crashed)
    fprintf(stderr, "simulate: the firmware crashed at %#" PRIx32 "\n", avr->pc);
  if (state == cpu_Crashed || recorder->failed) return 1;
  if (state == cpu_Done) return 0;
  fprintf(stderr, "simulate: the firmware did not end within %g s\n", seconds);
  return 3;
}

static int close_all(struct recorder *recorder) {
  FILE *files[] = {recorder->edges, recorder->vcd, recorder->uart, recorder->steps};
  int failed = 0;
  size_t at;
  /* The last line shows a reader how long the last level lasted. */
  if (recorder->vcd != NULL) {
    recorder->avr->cycle += recorder->avr->frequency / 1000;
    fprintf(recorder->vcd, "#%" PRIu64 "\n",
        (uint64_t)((double)recorder->avr->cycle * 1e12 / recorder->avr->frequency));
  }
  for (at = 0; at < sizeof files / sizeof *files; at += 1) {
    if (files[at] != NULL && (ferror(files[at]) | fclose(files[at])) != 0) failed = 1;
  }
  if (failed) fprintf(stderr, "simulate: the recording could not be written\n");
  return failed;
}

/* ---- arguments ---- */

static int usage(const char *reason, const char *what) {
  fprintf(stderr,
      "simulate: %s%s\nusage: simulate FIRMWARE.elf [--mcu NAME] [--frequency HZ] [--pin B7] "
      "[--seconds LIMIT]\n"
                  "                [--edges FILE] [--vcd FILE] [--uart FILE] [--from ADDRESS --to "
                      "ADDRESS --steps FILE]\n", reason, what);
  return 2;
}

static bool number(const char *text, uint32_t *into) {
  char *end;
  unsigned long value = strtoul(text, &end, 0);
  *into = (uint32_t)value;
  return end != text && *end == 0 && value <= UINT32_MAX;
}

/* One option and its value; false if the value is invalid. */
static bool take(struct options *options, const char *name, const char *value) {
  char *end = NULL;
  if (strcmp(name, "--mcu") == 0) return (options->mcu = value) != NULL;
  if (strcmp(name, "--edges") == 0) return (options->edges = value) != NULL;
  if (strcmp(name, "--vcd") == 0) return (options->vcd = value) != NULL;
  if (strcmp(name, "--uart") == 0) return (options->uart = value) != NULL;
  if (strcmp(name, "--steps") == 0) return (options->steps = value) != NULL;
  if (strcmp(name, "--frequency") == 0)
    return number(value, &options->frequency) && options->frequency > 0;
  if (strcmp(name, "--from") == 0) return number(value, &options->from);
  if (strcmp(name, "--to") == 0) return number(value, &options->to);
  if (strcmp(name, "--seconds") == 0)
    return (options->seconds = strtod(value, &end)) > 0 && options->seconds < 1e6 && *end == 0;
  if (strcmp(name, "--pin") != 0 || strlen(value) != 2) return false;
  options->port = value[0];
  options->bit = (unsigned)(value[1] - '0');
  return value[0] >= 'A' && value[0] <= 'L' && options->bit <= 7;
}

int main(int argc, char **argv) {
  struct options options =
      {.mcu = "atmega2560", .frequency = 1000000, .seconds = 3600, .port = 'B', .bit = 7};
  struct recorder recorder = {.level = -1};
  int at, status;
  for (at = 1; at < argc; at += 1) {
    if (strncmp(argv[at], "--", 2) != 0 && options.firmware == NULL) {
      options.firmware = argv[at];
    } else if (at + 1 == argc || !take(&options, argv[at], argv[at + 1])) {
      return usage("cannot use ", argv[at]);
    } else {
      at += 1;
    }
  }
  if (options.firmware == NULL) return usage("no firmware", "");
  if (options.steps != NULL && options.to <= options.from)
    return usage("--steps needs --from and --to", "");
  avr_global_logger_set(log_errors);
  recorder.avr = load(&options);
  if (recorder.avr == NULL) return 1;
  recorder.from = options.from, recorder.to = options.to;
  recorder.instructions = calloc(words(&recorder) + 1, sizeof *recorder.instructions);
  if (recorder.instructions == NULL) return usage("no memory for these addresses", "");
  recorder.edges = open_for_writing(options.edges);
  recorder.vcd = open_for_writing(options.vcd);
  recorder.uart = open_for_writing(options.uart);
  recorder.steps = open_for_writing(options.steps);
  listen(&recorder, &options);
  status = run(&recorder, options.seconds);
  if (close_all(&recorder) != 0) status = 1;
  free(recorder.instructions);
  return status;
}
