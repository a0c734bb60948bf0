"""What people time of memory, containers, strings and algorithms."""

from people_case import Person

# A value is kept alive, though the code makes no other use of it.
ESCAPE = '__asm__ volatile("" : : "r"({}) : "memory")'
NODES = "struct Node { Node* next; long value; };\n"
SORT_32 = (
    "__attribute__((noinline)) static int sort_32(const int* from) {\n"
    "  int t[32];\n  memcpy(t, from, sizeof t);\n  std::sort(t, t + 32);\n  return t[3];\n}\n"
)
# Numbers without an order that is easy to predict.
MIXED_32 = ", ".join(str(at * at * 37 % 211) for at in range(32))
SPLIT = """
__attribute__((noinline)) static size_t split(const std::string& s) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = s.find(',', from)) != std::string::npos; from = at + 1) {
    parts.push_back(s.substr(from, at - from));
  }
  parts.push_back(s.substr(from));
  return parts.size();
}
"""
BASE64 = """
static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static inline void base64(const unsigned char* from, size_t n, char* to) {
  for (size_t at = 0; at < n; at += 3) {
    unsigned word = from[at] << 16 | from[at + 1] << 8 | from[at + 2];
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = digits64[word >> shift & 63];
  }
}
"""
CRC = """
static inline uint32_t crc(uint32_t sum, const uint32_t* table, const unsigned char* from,
                           size_t n) {
  for (size_t at = 0; at < n; at++) sum = table[(sum ^ from[at]) & 255] ^ sum >> 8;
  return sum;
}
"""
STEPS = """
static inline unsigned below(const int* a, unsigned n, int key) {
  const int* from = a;
  for (unsigned half = n / 2; half > 0; half /= 2) from += (from[half - 1] < key) * half;
  return from - a + (*from < key);
}
"""
MEDIAN = """
__attribute__((noinline)) static float median(const float* from) {
  float t[25];
  memcpy(t, from, sizeof t);
  std::nth_element(t, t + 12, t + 25);
  return t[12];
}
"""
# Entries of a map with keys of 32 characters.
KEYS_32 = ", ".join(f'{{"the key of an entry, number {at:04}", {at}}}' for at in range(10))

CASES: tuple[Person, ...] = (
    # Allocation and release.
    Person(
        "malloc and free of 2048 bytes",
        "richfelker/mallocng-draft#3",
        "char* q = (char*)malloc(n); *(volatile char*)q = 1; free(q)",
        ("size_t n = 2048",),
        ("n",),
    ),
    Person(
        "eight blocks, freed in order",
        "spaskalev/buddy_alloc#46",
        "for (int i = 0; i < 8; i++) b[i] = malloc(n); for (int i = 0; i < 8; i++) free(b[i])",
        ("void* b[8]", "size_t n = 64"),
        ("n",),
    ),
    Person(
        "calloc of 4096 bytes",
        "gperftools/gperftools#22",
        "char* q = (char*)calloc(1, n); *(volatile char*)q = 1; free(q)",
        ("size_t n = 4096",),
        ("n",),
    ),
    Person(
        "malloc and memset of 4096 bytes",
        "quickjs-ng/quickjs#472",
        f"char* q = (char*)malloc(n); {ESCAPE.format('q')}; memset(q, 0, n); "
        f"{ESCAPE.format('q')}; free(q)",
        ("size_t n = 4096",),
        ("n",),
    ),
    Person(
        "new and delete of an int",
        "gperftools/gperftools#191",
        "g = new int(x); x = *g + 1; delete g",
        ("int* g = nullptr", "int x = 3"),
        ("x",),
    ),
    Person(
        "realloc, doubled from 16 to 1024",
        "netdata/netdata#12792",
        "char* q = (char*)malloc(n); for (size_t m = 2 * n; m <= 1024; m *= 2) q = "
        "(char*)realloc(q, m); "
        "*(volatile char*)q = 1; free(q)",
        ("size_t n = 16",),
        ("n",),
    ),
    Person(
        "vector, 64 pushed without reserve",
        "google/benchmark#16",
        "std::vector<int> v; for (int i = 0; i < 64; i++) v.push_back(x); "
        f"{ESCAPE.format('v.data()')}",
        ("int x = 3",),
        ("x",),
    ),
    Person(
        "vector, 64 pushed after reserve",
        "ros2/rosidl#528",
        "std::vector<int> v; v.reserve(64); for (int i = 0; i < 64; i++) v.push_back(x); "
        f"{ESCAPE.format('v.data()')}",
        ("int x = 3",),
        ("x",),
    ),
    # Functions of the C library on memory.
    Person(
        "memcpy of 32, both unaligned",
        "skywind3000/FastMemcpy#4",
        "memcpy(to + 1, from + 3, n)",
        (
            "char to[64] __attribute__((aligned(64)))",
            "char from[64] __attribute__((aligned(64)))",
            "size_t n = 32",
        ),
        ("n",),
    ),
    Person(
        "memcpy of 1024, aligned",
        "risc0/risc0#277",
        "memcpy(to, from, n)",
        (
            "char to[1024] __attribute__((aligned(64)))",
            "char from[1024] __attribute__((aligned(64)))",
            "size_t n = 1024",
        ),
        ("n",),
    ),
    Person(
        "memmove of 90 by one byte",
        "llvm/llvm-project#70017",
        "memmove(a + 1, a, n)",
        ("char a[128] __attribute__((aligned(64)))", "size_t n = 90"),
        ("n",),
    ),
    Person(
        "std::fill of chars with an int",
        "blog: The Hunt for the Fastest Zero",
        "std::fill(p, p + n, 0)",
        ("char a[64]", "char* p = a", "size_t n = 64"),
        ("p", "n"),
    ),
    Person(
        "strlen of 128, unaligned",
        "llvm/llvm-project#152389",
        "n = strlen(p)",
        ("char a[160] __attribute__((aligned(64)))", "char* p = a + 7", "size_t n = 0"),
        ("p", "n"),
        setup="memset(a, 'a', 135)",
    ),
    Person(
        "memchr in eight bytes",
        "BurntSushi/memchr#37",
        "p = (char*)memchr(a, c, n)",
        ('char a[16] = "abcde:gh"', "char* p = a", "int c = ':'", "size_t n = 8"),
        ("p", "c", "n"),
    ),
    Person(
        "100 bytes copied by a loop",
        "stackoverflow: Why are memcpy() and memmove() faster than pointer increments?",
        "char *f = from, *t = to; for (int i = 0; i < n; i++) *t++ = *f++",
        ("char a[128]", "char b[128]", "char* to = a", "char* from = b", "int n = 100"),
        ("to", "from", "n"),
    ),
    # Containers.
    Person(
        "std::map, all of 32 found",
        "abseil/abseil-cpp#563",
        "for (int i = 0; i < 32; i++) x += m.find(i)->second",
        ("std::map<int, int> m", "unsigned x = 0"),
        ("x",),
        setup="for (int i = 0; i < 32; i++) m[i] = i",
    ),
    Person(
        "unordered_map of 1000, not found",
        "seladb/PcapPlusPlus#337",
        "x += m.find(k) == m.end()",
        ("std::unordered_map<int, int> m", "int k = 4000", "unsigned x = 0"),
        ("k", "x"),
        setup="for (int i = 0; i < 1000; i++) m[i * 7] = i",
    ),
    Person(
        "unordered_map, keys of 32 characters",
        "KhronosGroup/COLLADA2GLTF#19",
        "x = m.find(k)->second",
        (
            f"std::unordered_map<std::string, int> m = {{{KEYS_32}}}",
            'std::string k = "the key of an entry, number 0007"',
            "int x = 0",
        ),
        ("x",),
    ),
    Person(
        "std::map, found by a temporary string",
        "jupp0r/prometheus-cpp#750",
        "x = m.find(std::string(k))->second",
        (
            f"std::map<std::string, int> m = {{{KEYS_32}}}",
            'char k[40] = "the key of an entry, number 0007"',
            "int x = 0",
        ),
        ("x",),
    ),
    Person(
        "std::set, walk over 64",
        "ad-freiburg/qlever#2086",
        "for (int one : s) x += one",
        ("std::set<int> s", "unsigned x = 0"),
        ("x",),
        head="#include <set>",
        setup="for (int i = 0; i < 64; i++) s.insert(i * 37 % 64)",
    ),
    Person(
        "std::deque, pushed and popped",
        "beyond-all-reason/RecoilEngine#1343",
        "d.push_back(x); x = d.front(); d.pop_front()",
        ("std::deque<int> d = std::deque<int>(16)", "int x = 3"),
        ("x",),
        head="#include <deque>",
    ),
    # Strings.
    Person(
        "long string, copied",
        "P-p-H-d/mlib#46",
        f"std::string t(s); {ESCAPE.format('&t')}",
        ('std::string s = "a string that is too long to be kept in place"',),
    ),
    Person(
        "four strings, concatenated",
        "fmtlib/fmt#1685",
        "std::string t = a + s + b + s; n = t.size()",
        (
            'std::string a = "The answer is "',
            'std::string b = " and the other "',
            'std::string s = "42"',
            "size_t n = 0",
        ),
        ("n",),
    ),
    Person(
        "string_view, find_first_of",
        "ada-url/ada#219",
        "n = s.find_first_of(w)",
        (
            'std::string_view s = "example.org/path/to/a?query"',
            'std::string_view w = "?#"',
            "size_t n = 0",
        ),
        ("n",),
        head="#include <string_view>",
    ),
    Person(
        "split into strings",
        "osquery/osquery#7636",
        "n = split(s)",
        (
            'std::string s = "usr,local,share,doc,a part that is longer than others,end"',
            "size_t n = 0",
        ),
        ("n",),
        head=SPLIT,
    ),
    # Numbers and other encodings.
    Person(
        "std::from_chars",
        "diffblue/cbmc#9007",
        "std::from_chars(s, s + 7, x)",
        ('char s[8] = "1234567"', "long x = 0"),
        head="#include <charconv>",
    ),
    Person(
        "base64 of 48 bytes",
        "marshallpierce/rust-base64#12",
        "base64(from, n, to)",
        ("unsigned char from[48]", "char to[64]", "size_t n = 48"),
        ("n",),
        head=BASE64,
        setup="for (int i = 0; i < 48; i++) from[i] = i * 37",
    ),
    Person(
        "CRC of 64 bytes by a table",
        "tamnd/kura#30",
        "sum = crc(sum, table, from, n)",
        ("uint32_t table[256]", "unsigned char from[64]", "size_t n = 64", "uint32_t sum = 1"),
        ("n", "sum"),
        head=CRC,
        setup="for (uint32_t i = 0; i < 256; i++) { uint32_t c = i; for (int k = 0; k < 8; k++) "
        "c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1; table[i] = c; }",
    ),
    # Pointers that own, and functions and values of any type.
    Person(
        "shared_ptr, copied into an array",
        "zeek/spicy#1601",
        "std::shared_ptr<int> q[4] = {p, p, p, p}; x += *q[3]",
        ("std::shared_ptr<int> p = std::make_shared<int>(4)", "int x = 0"),
        ("x",),
    ),
    Person(
        "unique_ptr, made and moved",
        "milvus-io/milvus#24502",
        f"auto p = std::make_unique<int>(x); auto q = std::move(p); {ESCAPE.format('&q')}; x = *q "
        "+ 1",
        ("int x = 3",),
        ("x",),
    ),
    Person(
        "std::function with a large capture",
        "facebook/folly#344",
        f"std::function<long(long)> f = [x, y, z, w](long v) {{ return v + x + y + z + w; }}; "
        f"{ESCAPE.format('&f')}; "
        "x = f(y)",
        ("long x = 3", "long y = 5", "long z = 7", "long w = 9"),
        ("x", "y", "z", "w"),
    ),
    Person(
        "std::visit of eight variants",
        "rollbear/visit#2",
        "for (auto& one : v) x += std::visit([](auto value) { return long(value); }, one)",
        ("Value v[8] = {1, 2.0, 'c', 4L, 5, 6.0, 'd', 8L}", "long x = 0"),
        ("x",),
        head="#include <variant>\nusing Value = std::variant<int, double, char, long>;",
    ),
    # Structures, and the ways that data takes through memory.
    Person(
        "structure of 344 bytes, assigned",
        "ohler55/oj#790",
        "to = from",
        ("Options to", "Options from"),
        head="struct Options { long words[43]; };",
    ),
    Person(
        "bit fields",
        "zeek/zeek#719",
        "f.a++; f.c += f.b; x += f.d",
        ("Flags f", "unsigned x = 0"),
        ("x",),
        head="struct Flags { unsigned a : 3, b : 5, c : 7, d : 17; };",
    ),
    Person(
        "byte stored, word loaded",
        "blog: Store-to-Load Forwarding",
        "s[1] = char(x); uint32_t y; memcpy(&y, s, 4); x += y",
        ("char s[8] __attribute__((aligned(8)))", "uint32_t x = 1"),
        ("x",),
    ),
    Person(
        "32 equal bytes counted",
        "powturbo/Turbo-Histogram#2",
        "for (int i = 0; i < 32; i++) c[s[i]]++",
        ("unsigned c[256]", "unsigned char s[32]"),
    ),
    Person(
        "loads 4096 bytes behind stores",
        "Kobzol/hardware-effects#18",
        "for (int i = 0; i < 64; i++) a[1025 + i] = a[i] + 1",
        ("volatile int a[2048] __attribute__((aligned(4096)))",),
    ),
    Person(
        "load across a page",
        "MarcinZukowski/pivco-huffman#8",
        "uint64_t y; memcpy(&y, a + 4092 + x, 8); x = y",
        ("char a[8192] __attribute__((aligned(4096)))", "uint64_t x = 0"),
        ("x",),
    ),
    Person(
        "matrix summed by columns",
        "se-edu/learningresources#14",
        "for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) x += a[j][i]",
        ("int a[32][32]", "unsigned x = 0"),
        ("x",),
    ),
    Person(
        "matrix summed by rows",
        "jimhester/libvroom#599",
        "for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) x += a[i][j]",
        ("int a[32][32]", "unsigned x = 0"),
        ("x",),
    ),
    Person(
        "linked list of 64 in order",
        "blog: Why you should never, ever, EVER use linked-list in your code again",
        "for (Node* at = p; at; at = at->next) x += at->value",
        ("Node nodes[64]", "Node* p = nodes", "long x = 0"),
        ("p", "x"),
        head=NODES,
        setup="for (int i = 0; i < 63; i++) nodes[i].next = &nodes[i + 1]",
    ),
    Person(
        "one step in a list of 128 KiB",
        "apache/arrow#3225",
        "p = p->next",
        ("Line lines[2048]", "Line* p = lines"),
        ("p",),
        head="struct alignas(64) Line { Line* next; };",
        setup="for (int i = 0; i < 2048; i++) lines[i].next = &lines[(i * 5 + 1237) % 2048]",
    ),
    Person(
        "pointers followed with prefetch",
        "guevara/read-it-later#3876",
        "for (int i = 0; i < 56; i++) { __builtin_prefetch(at[i + 8]); x += *at[i]; }",
        ("long a[512] __attribute__((aligned(64)))", "long* at[64]", "long x = 0"),
        ("x",),
        setup="for (int i = 0; i < 64; i++) at[i] = &a[i * 37 % 64 * 8]",
    ),
    # Algorithms.
    Person(
        "std::sort of 32, sorted before",
        "electronicarts/EASTL#202",
        "x = sort_32(a)",
        ("int a[32]", "int x = 0"),
        ("x",),
        head=SORT_32,
        setup="for (int i = 0; i < 32; i++) a[i] = i",
    ),
    Person(
        "std::sort of 32, mixed",
        "arborx/ArborX#278",
        "x = sort_32(a)",
        (f"int a[32] = {{{MIXED_32}}}", "int x = 0"),
        ("x",),
        head=SORT_32,
    ),
    Person(
        "lower_bound of changing keys",
        "RoaringBitmap/RoaringBitmap#48",
        "k = k * 1103515245 + 12345; x += std::lower_bound(a, a + 256, int(k >> 24)) - a",
        ("int a[256]", "uint32_t k = 1", "long x = 0"),
        ("k", "x"),
        setup="for (int i = 0; i < 256; i++) a[i] = i",
    ),
    Person(
        "search without branches",
        "lefticus/cpp_weekly#282",
        "k = k * 1103515245 + 12345; x += below(a, n, k >> 24)",
        ("int a[256]", "uint32_t k = 1", "unsigned n = 256", "unsigned x = 0"),
        ("k", "n", "x"),
        head=STEPS,
        setup="for (int i = 0; i < 256; i++) a[i] = i",
    ),
    Person(
        "median of 25 by nth_element",
        "PointCloudLibrary/pcl#4360",
        "x = median(a)",
        ("float a[25]", "float x = 0"),
        head=MEDIAN,
        setup="for (int i = 0; i < 25; i++) a[i] = i * i * 37 % 211",
    ),
    Person(
        "std::find, behind 50 others",
        "microsoft/STL#2434",
        "x += *std::find(a, a + 64, k)",
        ("int a[64]", "int k = 50", "unsigned x = 0"),
        ("k", "x"),
        setup="for (int i = 0; i < 64; i++) a[i] = i",
    ),
    Person(
        "std::rotate of 123 bytes",
        "microsoft/STL#5502",
        "std::rotate(a, a + 32, a + 123)",
        ("char a[128] __attribute__((aligned(64)))",),
    ),
)
