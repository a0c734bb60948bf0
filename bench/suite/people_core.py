"""Cases of arithmetic, floating point, branches, calls, synchronization, clocks and system calls
that people timed.
"""

from people_case import Person

TWISTED = ", ".join(str((at * 2654435761 >> 7) % 251) for at in range(512))
SMALL = ", ".join(f"1.{at}e-30f" for at in range(16))
POPULATION = (
    '__attribute__((target("popcnt"), noinline)) static uint64_t bits(const uint64_t *from) { '
    "uint64_t n = 0; "
    "for (uint64_t i = 0; i < 64; i++) n += __builtin_popcountll(from[i]); return n; }"
)
CRC = (
    "struct Crc { uint32_t of[256]; Crc() { for (uint32_t i = 0; i < 256; i++) { uint32_t c = i; "
    "for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1; of[i] = c; } } }; "
    "static Crc crc;"
)
SHAPES = (
    "struct Shape { virtual ~Shape() {} virtual int area(int by) const = 0; }; "
    "struct Square : Shape { int area(int by) const override { return by * by + 1; } }; "
    "struct Tile : Square { int area(int by) const override { return by + 3; } }; "
    "static Shape *made() { static Tile tile; return &tile; }"
)
ABOVE = (
    'int s = 0; for (int i = 0; i < 512; i++) if (a[i] >= 125) { s += a[i]; __asm__ volatile("" : '
    '"+r"(s)); } x = s'
)
ACCENTS = (
    "caf\\xc3\\xa9 na\\xc3\\xafve r\\xc3\\xa9sum\\xc3\\xa9, some plain words, \\xe2\\x82\\xac and 5"
)
SORTED_QUESTION = "Why is processing a sorted array faster than processing an unsorted array?"

CASES: tuple[Person, ...] = (
    Person(
        "division of 64 bits, chained",
        "blog: Measuring the True Cost of Div (32-bit vs 64-bit with Rust and Inline Asm)",
        "x = x / y + z",
        ("uint64_t x = 1", "uint64_t y = 3", "uint64_t z = 1152921504606846976"),
        ("x", "y", "z"),
    ),
    Person(
        "division of 32 bits by a variable",
        "google/benchmark#341",
        "x++; q = x / d",
        ("uint32_t x = 7", "uint32_t d = 3", "uint32_t q = 0"),
        ("x", "d", "q"),
    ),
    Person(
        "division by a constant",
        "golang/go#37773",
        "q = x / 216; x += q + 1",
        ("uint64_t x = 1633395", "uint64_t q = 0"),
        ("x", "q"),
    ),
    Person(
        "population count of 64 words",
        "itnursery.com: Replacing a 32-bit loop counter with 64-bit introduces crazy performance "
        "deviations "
        "with _mm_popcnt_u64 on Intel CPUs",
        "x = bits(a)",
        ("uint64_t a[64] = {1, 3, 7, 15}", "uint64_t x = 0"),
        ("x",),
        head=POPULATION,
    ),
    Person(
        "std::gcd",
        "algorithmica-org/algorithmica#155",
        "r = std::gcd(x, y)",
        ("unsigned x = 1836311903", "unsigned y = 701408733", "unsigned r = 0"),
        ("x", "y", "r"),
    ),
    Person(
        "integer square root by Newton",
        "crystal-lang/crystal#10549",
        "uint64_t s = x, t = (s + 1) / 2; while (t < s) { s = t; t = (s + x / s) / 2; } r = s",
        ("uint64_t x = 1000000007", "uint64_t r = 0"),
        ("x", "r"),
    ),
    Person(
        "xorshift of 64 bits",
        "rust-random/rand#8",
        "x ^= x << 13; x ^= x >> 7; x ^= x << 17",
        ("uint64_t x = 88172645463325252",),
        ("x",),
    ),
    Person(
        "CRC of 32 bytes by a table",
        "weichsel/ZIPFoundation#40",
        "uint32_t c = ~0u; for (int i = 0; i < 32; i++) c = crc.of[(c ^ s[i]) & 255] ^ (c >> 8); "
        "r = ~c",
        ('unsigned char s[33] = "a checksum over a few more bytes"', "uint32_t r = 0"),
        ("r",),
        head=CRC,
    ),
    Person(
        "square roots, eight chained",
        "RigsOfRods/rigs-of-rods#769",
        "double v = x; for (int i = 0; i < 8; i++) v = std::sqrt(v) + y; r = v",
        ("double x = 3.5", "double y = 2.25", "double r = 0"),
        head="#include <cmath>",
    ),
    Person(
        "fast inverse square root",
        "PaulStoffregen/MahonyAHRS#6",
        "float y, h = 0.5f * x; uint32_t i; memcpy(&i, &x, 4); i = 0x5f3759df - (i >> 1); "
        "memcpy(&y, &i, 4); "
        "r = y * (1.5f - h * y * y)",
        ("float x = 0.4f", "float r = 0"),
    ),
    Person(
        "sine",
        "JuliaMath/openlibm#36",
        "r = sin(x)",
        ("double x = 0.5", "double r = 0"),
        head="#include <cmath>",
    ),
    Person(
        "power of doubles",
        "JuliaMath/openlibm#234",
        "r = pow(x, y)",
        ("double x = 1.7", "double y = 3.3", "double r = 0"),
        head="#include <cmath>",
    ),
    Person(
        "fmod",
        "JuliaMath/openlibm#93",
        "r = fmod(x, y)",
        ("double x = 1000000.5", "double y = 0.7", "double r = 0"),
        head="#include <cmath>",
    ),
    Person(
        "products below the normal range",
        "tfetimes.com: Why does changing 0.1f to 0 slow down performance by 10x?",
        "for (int i = 0; i < 16; i++) b[i] = a[i] * x",
        (f"float a[16] = {{{SMALL}}}", "float x = 1e-10f", "float b[16]"),
    ),
    Person(
        "test for NaN",
        "dotnet/performance#952",
        "n += std::isnan(x)",
        ("double x = 1.5", "int n = 0"),
        ("n",),
        head="#include <cmath>",
    ),
    Person(
        "polynomial by Horner",
        "ibell/coolprop#60",
        "r = ((((c[5] * x + c[4]) * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0]",
        ("double c[6] = {1, 0.5, 0.25, 0.125, 0.0625, 0.03125}", "double x = 0.7", "double r = 0"),
    ),
    Person(
        "std::fma without the instruction",
        "mockingbirdnest/Principia#3023",
        "r = std::fma(x, y, z)",
        ("double x = 0.5", "double y = 0.25", "double z = 3", "double r = 0"),
        head="#include <cmath>",
    ),
    Person(
        "Kahan sum of 32",
        "ocaml-batteries-team/batteries-included#459",
        "double s = 0, c = 0; for (int i = 0; i < 32; i++) { double y = a[i] - c, t = s + y; c = "
        "(t - s) - y; s = t; } "
        "r = s",
        ("double a[32] = {0.1, 0.2, 0.3}", "double r = 0"),
    ),
    Person(
        "dot product of 64, one sum",
        "datastax/jvector#380",
        "float s = 0; for (int i = 0; i < 64; i++) s += a[i] * b[i]; r = s",
        ("float a[64] = {1, 2, 3}", "float b[64] = {4, 5, 6}", "float r = 0"),
    ),
    Person(
        "dot product of 64, four sums",
        "gonum/internal#19",
        "double s = 0, t = 0, u = 0, v = 0; for (int i = 0; i < 64; i += 4) { s += a[i] * b[i]; "
        "t += a[i + 1] * b[i + 1]; u += a[i + 2] * b[i + 2]; v += a[i + 3] * b[i + 3]; } r = s + "
        "t + u + v",
        ("double a[64] = {1, 2, 3}", "double b[64] = {4, 5, 6}", "double r = 0"),
    ),
    Person(
        "floor to an integer",
        "AcademySoftwareFoundation/OpenImageIO#1766",
        "n = (int)std::floor(x)",
        ("float x = 1.1f", "int n = 0"),
        ("n",),
        head="#include <cmath>",
    ),
    Person(
        "sum above a limit, unsorted",
        "learn-it-university.com: " + SORTED_QUESTION,
        ABOVE,
        (f"int a[512] = {{{TWISTED}}}", "int x = 0"),
        ("x",),
    ),
    Person(
        "branch on a random number",
        "tevador/RandomX#2",
        "x = x * 6364136223846793005u + 1442695040888963407u; if (x >> 63) { n += 3; __asm__ "
        'volatile("" : "+r"(n)); }',
        ("uint64_t x = 1", "uint64_t n = 0"),
        ("n",),
        in_memory=True,
    ),
    Person(
        "std::clamp of a float",
        "llvm/llvm-project#49253",
        "r = std::clamp(x, low, high)",
        ("float x = 0.5f", "float low = 0", "float high = 1", "float r = 0"),
        in_memory=True,
    ),
    Person(
        "switch of eight cases",
        "vtereshkov/umka-lang#403",
        "switch (x & 7) { case 0: x += 5; break; case 1: x ^= 9; break; case 2: x *= 3; break; "
        "case 3: x -= 7; break; "
        "case 4: x = x << 1 | 1; break; case 5: x = ~x; break; case 6: x += y; break; default: x "
        "^= y; }",
        ("unsigned x = 17", "unsigned y = 12345"),
        ("x", "y"),
    ),
    Person(
        "virtual call",
        "jamboree/CxxFunctionBenchmark#11",
        "x = p->area(x)",
        ("Shape *p = made()", "int x = 3"),
        ("p", "x"),
        head=SHAPES,
    ),
    Person(
        "std::function of a pointer",
        "microsoft/STL#706",
        "x = f(x)",
        ("std::function<int(int)> f = next", "int x = 3"),
        ("x",),
        head="__attribute__((noinline)) static int next(int from) { return from ^ 5; }",
    ),
    Person(
        "Fibonacci of 10, recursive",
        "bheisler/criterion.rs#280",
        "r = fibonacci(n)",
        ("unsigned n = 10", "unsigned r = 0"),
        ("n", "r"),
        head="__attribute__((noinline)) static unsigned fibonacci(unsigned n) "
        "{ return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }",
    ),
    Person(
        "try block, nothing thrown",
        "facebookincubator/velox#1015",
        "try { x = checked(x); } catch (int) { x = 0; }",
        ("int x = 3",),
        ("x",),
        head="__attribute__((noinline)) static int checked(int from) "
        "{ if (from < 0) throw 1; return (from + 1) & 255; }",
    ),
    Person(
        "dynamic_cast to a derived class",
        "stackoverflow: Performance of dynamic_cast?",
        "n += dynamic_cast<Square *>(p) != nullptr",
        ("Shape *p = made()", "int n = 0"),
        ("p", "n"),
        head=SHAPES,
    ),
    Person(
        "thread_local behind a guard",
        "scylladb/scylladb#25259",
        "x = counted(x)",
        ("uint64_t x = 0",),
        ("x",),
        head="struct Count { uint64_t n; Count() : n(rand() & 7) {} ~Count() { n = 0; } }; "
        "__attribute__((noinline)) static uint64_t counted(uint64_t by) "
        "{ static thread_local Count count; return count.n += by; }",
    ),
    Person(
        "atomic addition",
        "facebook/rocksdb#2505",
        "c.fetch_add(1, std::memory_order_relaxed)",
        ("std::atomic<uint64_t> c",),
        head="#include <atomic>",
    ),
    Person(
        "increment by compare and exchange",
        "ocaml-multicore/multicore-bench#25",
        "long old = c.load(); while (!c.compare_exchange_weak(old, old + 1)) {}",
        ("std::atomic<long> c",),
        head="#include <atomic>",
    ),
    Person(
        "store, fence and load",
        "openjdk/jdk#6138",
        "c.store(x, std::memory_order_relaxed); "
        "std::atomic_thread_fence(std::memory_order_seq_cst); "
        "x = d.load(std::memory_order_relaxed) + 1",
        ("std::atomic<int> c", "std::atomic<int> d", "int x = 3"),
        ("x",),
        head="#include <atomic>",
    ),
    Person(
        "std::mutex, uncontended",
        "TileDB-Inc/TileDB#1172",
        "m.lock(); x++; m.unlock()",
        ("std::mutex m", "uint64_t x = 0"),
        head="#include <mutex>",
    ),
    Person(
        "pthread spin lock",
        "pramalhe/ConcurrencyFreaks#1",
        "pthread_spin_lock(&s); x++; pthread_spin_unlock(&s)",
        ("pthread_spinlock_t s", "uint64_t x = 0"),
        setup="pthread_spin_init(&s, 0)",
    ),
    Person(
        "CPU time of the process",
        "corsis/clock#56",
        "clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t)",
        ("timespec t",),
        head="#include <ctime>",
    ),
    Person(
        "std::chrono::steady_clock",
        "cemu-project/Cemu#563",
        "t = std::chrono::steady_clock::now().time_since_epoch().count()",
        ("int64_t t = 0",),
        ("t",),
        head="#include <chrono>",
    ),
    Person(
        "getpid as a system call",
        "blog.i0.pm: what a syscall actually costs you",
        "n = syscall(SYS_getpid)",
        ("long n = 0",),
        ("n",),
        head="#include <sys/syscall.h>\n#include <unistd.h>",
    ),
    Person(
        "read of a byte of /dev/zero",
        "ssrg-vt/hermitux#6",
        "n = read(fd, to, 1)",
        ("int fd = -1", "char to[8]", "long n = 0"),
        ("n",),
        head="#include <fcntl.h>\n#include <unistd.h>",
        setup='if (fd < 0) fd = open("/dev/zero", O_RDONLY)',
    ),
    Person(
        "time stamp between fences",
        "yuzu-emu/yuzu#8143",
        "_mm_lfence(); t = __rdtsc(); _mm_lfence()",
        ("uint64_t t = 0",),
        ("t",),
        head="#include <x86intrin.h>",
    ),
    Person(
        "call of an empty function",
        "libnonius/nonius#14",
        "empty()",
        (),
        head='__attribute__((noinline)) static void empty() { __asm__ volatile(""); }',
    ),
    Person(
        "variable arguments, four",
        "blog: stdarg-performance",
        "x = total(4, x, 2, 3, 4)",
        ("int x = 1",),
        ("x",),
        head="#include <cstdarg>\n__attribute__((noinline)) static int total(int n, ...) "
        "{ va_list all; va_start(all, n); int sum = 0; while (n--) sum ^= va_arg(all, int); "
        "va_end(all); return sum; }",
    ),
    Person(
        "Mandelbrot, 50 iterations",
        "lemire/Code-used-on-Daniel-Lemire-s-blog#22",
        "double a = 0, b = 0; int i = 0; for (; i < 50 && a * a + b * b < 4; i++) "
        "{ double t = a * a - b * b + cx; b = 2 * a * b + cy; a = t; } n = i",
        ("double cx = -0.1", "double cy = 0.2", "int n = 0"),
        ("n",),
    ),
    Person(
        "Collatz steps from 27",
        "epochus/371p-collatz#19",
        "uint64_t v = x; unsigned k = 1; while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; k++; } n "
        "= k",
        ("uint64_t x = 27", "unsigned n = 0"),
        ("x", "n"),
    ),
    Person(
        "sieve step of seven",
        "PlummersSoftwareLLC/Primes#104",
        "for (unsigned i = p * p; i < 1024; i += p) a[i] = 1",
        ("unsigned char a[1024]", "unsigned p = 7"),
        ("p",),
    ),
    Person(
        "product of 4x4 matrices",
        "KaijuEngine/kaiju#616",
        "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) { float s = 0; "
        "for (int k = 0; k < 4; k++) s += a[4 * i + k] * b[4 * k + j]; c[4 * i + j] = s; }",
        ("float a[16] = {1, 2, 3}", "float b[16] = {4, 5, 6}", "float c[16]"),
    ),
    Person(
        "number of a string by hand",
        "fastfloat/fast_float#86",
        "uint64_t v = 0; for (const char *c = s; *c >= '0' && *c <= '9'; c++) v = v * 10 + (*c - "
        "'0'); x = v",
        ('char s[16] = "8245739"', "uint64_t x = 0"),
        ("x",),
    ),
    Person(
        "characters of UTF-8, 50 bytes",
        "crystal-lang/crystal#11873",
        "unsigned k = 0; for (const char *c = s; *c; c++) k += (*c & 0xc0) != 0x80; n = k",
        (f'char s[64] = "{ACCENTS}"', "unsigned n = 0"),
        ("n",),
    ),
    Person(
        "sum of eight words with carry",
        "boostorg/multiprecision#234",
        "unsigned char k = 0; for (int i = 0; i < 8; i++) k = _addcarry_u64(k, a[i], b[i], &r[i])",
        (
            "unsigned long long a[8] = {1, 2, 3}",
            "unsigned long long b[8] = {~0ull, 5, ~0ull}",
            "unsigned long long r[8]",
        ),
        head="#include <immintrin.h>",
    ),
)
