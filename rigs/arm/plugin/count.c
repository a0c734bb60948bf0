/* A plugin of QEMU that counts how many instructions ran between pairs of addresses: an independent
 * check of what the counters under test report.
 *
 *   -plugin count.so,NAME=BEGIN-END,... -d plugin      addresses in hexadecimal; prints
 *                                                      `plugin NAME COUNT`
 *
 * The interface of version 1 is declared here, because no package has QEMU's header. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
    void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t at);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction,
    enum qemu_plugin_op operation, void *number, uint64_t by);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *),
    void *data);
void qemu_plugin_outs(const char *text);

EXPORTED int qemu_plugin_version = 1;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *information, int argc,
    char **argv);

#define MOST_SEGMENTS 16

struct segment {
  const char *name;
  uint64_t begin, end, executed;
};
static struct segment segments[MOST_SEGMENTS];
static unsigned segment_count;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t at = 0; at < qemu_plugin_tb_n_insns(block); at += 1) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, at);
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    for (unsigned segment = 0; segment < segment_count; segment += 1) {
      if (address < segments[segment].begin || address >= segments[segment].end) continue;
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
          &segments[segment].executed, 1);
    }
  }
}

static void print(qemu_plugin_id_t id, void *data) {
  (void)id, (void)data;
  for (unsigned segment = 0; segment < segment_count; segment += 1) {
    char line[128];
    snprintf(line, sizeof line, "plugin %s %" PRIu64 "\n", segments[segment].name,
        segments[segment].executed);
    qemu_plugin_outs(line);
  }
}

/* NAME=BEGIN-END; the name is cut off in place. QEMU keeps the texts. */
static int read_segment(char *text) {
  char *equals = strchr(text, '=');
  struct segment *segment = &segments[segment_count];
  if (equals == NULL || segment_count == MOST_SEGMENTS) return 0;
  if (sscanf(equals + 1, "%" SCNx64 "-%" SCNx64, &segment->begin, &segment->end) != 2) return 0;
  *equals = 0;
  segment->name = strdup(text);
  segment_count += 1;
  return segment->name != NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *information, int argc, char **argv) {
  (void)information;
  for (int at = 0; at < argc; at += 1) {
    if (!read_segment(argv[at])) {
      fprintf(stderr, "count: '%s' is not NAME=BEGIN-END, or one of more than %d\n", argv[at],
          MOST_SEGMENTS);
      return 1;
    }
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, print, NULL);
  return 0;
}
