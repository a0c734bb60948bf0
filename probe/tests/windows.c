/* Windows: the headers together with <windows.h>, before it and (WINDOWS_FIRST) after it; the
 * system's clock is the one that Windows itself reads. */
#ifdef WINDOWS_FIRST
#include <windows.h>
#endif

#include "hairspring_system.h"

#ifndef WINDOWS_FIRST
#if defined(_WINDOWS_) \
  || defined(WIN32_LEAN_AND_MEAN) || defined(NOMINMAX) || defined(min) || defined(max)
#error "the header includes windows.h, or sets its options"
#endif
#include <windows.h>
#endif

#undef NDEBUG
#include <assert.h>

/* All names are declared in either order. */
static LARGE_INTEGER counter(void) {
  LARGE_INTEGER ticks;
  assert(QueryPerformanceCounter(&ticks));
  return ticks;
}

static void the_systems_clock_is_the_performance_counter(void) {
  LARGE_INTEGER hz;
  assert(QueryPerformanceFrequency(&hz) && (uint64_t)hz.QuadPart == hairspring_system_hz() &&
      hz.QuadPart > 0);
  for (unsigned turn = 0; turn < 1000; turn += 1) {
    uint64_t before = (uint64_t)counter().QuadPart, ours = hairspring_system_now(),
        after = (uint64_t)counter().QuadPart;
    assert(before <= ours && ours <= after);
  }
}

static void the_clock_moves_and_has_a_rate(void) {
  struct hairspring_rate rate = hairspring_clock_rate(0.02);
  assert(rate.hz > 0.0 && rate.quantum_ticks > 0.0 && rate.uncertainty_hz < rate.hz / 100.0);
#ifdef HAIRSPRING_SYSTEM_CLOCK
  assert(hairspring_clock_hz() == hairspring_system_hz());
#else
  assert(hairspring_clock_hz() == 0);
#endif
}

int main(void) {
  the_systems_clock_is_the_performance_counter();
  the_clock_moves_and_has_a_rate();
  return 0;
}
