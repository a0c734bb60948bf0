/* Hairspring in C++: benchmarks as lambdas, type parameters, a stopwatch. C++17 and later, gcc and
 * clang, one header; it is a thin layer over hairspring.h and the engine's C ABI.
 *
 *   void keep(const Type &value)     the value counts as used: no instruction for a value in a
 *                                    register or in memory
 *   Type &opaque(Type &variable)     the compiler no longer knows the variable's value: no
 *                                    instruction either; it returns
 *   Type opaque(Type &&value)        the variable, or the value of an expression: x * opaque(3)
 *   hairspring::chain(name, state, code)   latency: every copy of the code waits for the state of
 *                                    the one before
 *   hairspring::bench(name, code)    code to be timed; .state .init .cold .setup .argument may
 *                                    follow
 *   hairspring::bench_types<...>     the same benchmark for several types
 *   hairspring::compare(a, b...)     benchmarks in the same rounds; the others are compared with
 *                                    the first
 *   HAIRSPRING_BENCH(name, code)     registers a benchmark at namespace scope;
 *                                    HAIRSPRING_ADD(benchmark) any other
 *   HAIRSPRING_MAIN_CPP              the main function; --help shows its command line
 *   hairspring::Stopwatch, hairspring::ScopedSpan   one span of time, with its uncertainty (with
 *                                    the engine)
 *
 * Copies of the code are straight-line, each inlined. clang always inlines the lambda. gcc does so
 * for small ones, and for those with the attribute: [](auto &x) HAIRSPRING_INLINE { ... }. Code
 * that the compiler does not inline is called, and the call is part of the time; if it inlines only
 * some copies, the rows are not on a line, and a finding says so. Functions that the lambda calls
 * are inlined or not as usual; hairspring::called(code) keeps the whole code out of line. All
 * memory counts as changed between two copies, and a scalar state stays in its register.
 *
 * Code that throws ends the program with a message and status 1. Each benchmark makes some 900
 * copies of its code, or some 300 of each with an init: long code takes long to compile, and is
 * better called. */
#ifndef HAIRSPRING_HPP
#define HAIRSPRING_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include "hairspring.h"

/* After the parameters of a lambda: every copy is inlined. */
#define HAIRSPRING_INLINE __attribute__((always_inline))

namespace hairspring {

/* ---- barriers -------------------------------------------------------------------------------- */

namespace detail {

template <class Type>
inline constexpr bool is_float = std::is_same_v<std::remove_cv_t<Type>, float> ||
    std::is_same_v<std::remove_cv_t<Type>, double>;

/* Types that fit one general register. */
template <class Type>
inline constexpr bool is_word = (std::is_integral_v<Type> || std::is_enum_v<Type> ||
    std::is_pointer_v<Type>)&&sizeof(Type) <= sizeof(void *);

template <class Type>
struct is_tuple : std::false_type {};
template <class... Types>
struct is_tuple<std::tuple<Types...>> : std::true_type {};
template <class First, class Second>
struct is_tuple<std::pair<First, Second>> : std::true_type {};

}  // namespace detail

/* The value counts as used, and all memory that a pointer in it could lead to as read. Scalars stay
 * in their register, objects where they are: nothing is copied, so any type will do. */
template <class Type>
HAIRSPRING_INLINE inline void keep(const Type &value) {
  if constexpr (detail::is_float<Type>) {
    __asm__ volatile("" : : HAIRSPRING_FLOATING_REGISTER(value));
  } else if constexpr (detail::is_word<Type>) {
    __asm__ volatile("" : : "r"(value));
  } else {
    __asm__ volatile("" : : "m"(value) : "memory");
  }
}

/* The variable has a value that the compiler does not know: a scalar, or every element of a pair or
 * tuple, in its register; any other object in memory, with all that it points to. */
template <class Type>
HAIRSPRING_INLINE inline Type &opaque(Type &variable) {
  static_assert(!std::is_const_v<Type>,
      "hairspring::opaque changes its variable: it must not be const");
  if constexpr (detail::is_float<Type>) {
    __asm__ volatile("" : "+" HAIRSPRING_FLOATING_REGISTER(variable));
  } else if constexpr (detail::is_word<Type>) {
    __asm__ volatile("" : "+r"(variable));
  } else if constexpr (detail::is_tuple<Type>::value) {
    std::apply([](auto &...element) HAIRSPRING_INLINE { (opaque(element), ...); }, variable);
  } else {
    __asm__ volatile("" : "+m"(variable) : : "memory");
  }
  return variable;
}

/* The value of an expression, which the compiler does not know. */
template <class Type, std::enable_if_t<!std::is_lvalue_reference_v<Type>, int> = 0>
HAIRSPRING_INLINE inline Type opaque(Type &&value) {
  opaque(value);
  return std::move(value);
}

/* ---- parts of a benchmark -------------------------------------------------------------------- */

/* Data that is flushed from all caches before every body. */
struct Bytes {
  const void *start;
  std::size_t count;
};

/* A type as a value: `decltype(tag)::type` is the type. */
template <class Type>
struct TypeTag {
  using type = Type;
};

/* The type's name as a source would have it, in the words of the compiler: `std::vector<int>`. */
template <class Type>
std::string name_of() {
  const std::string_view text = __PRETTY_FUNCTION__, mark = "Type = ";
  const std::size_t begin = text.find(mark) + mark.size(), next = text.find(';', begin);
  return std::string(text.substr(begin, (next != text.npos ? next : text.rfind(']')) - begin));
}

namespace detail {

/* Replaces a missing part. */
struct None {
  template <class... Arguments>
  HAIRSPRING_INLINE void operator()(Arguments &&...) const {}
};

/* The default state: the argument. */
struct ArgumentIsState {
  HAIRSPRING_INLINE std::int64_t operator()(std::int64_t argument) const { return argument; }
};

/* A state made from a value, once for each row. */
template <class State>
struct Copied {
  State initial;
  State operator()(std::int64_t) const { return initial; }
};

/* Calls a part with the state, or without arguments if it takes none. Keeps its result. */
template <class Part, class State>
[[gnu::always_inline, gnu::flatten]] inline void call(Part &part, State &state) {
  if constexpr (std::is_invocable_v<Part &, State &>) {
    if constexpr (std::is_void_v<std::invoke_result_t<Part &, State &>>) {
      part(state);
    } else {
      keep(part(state));
    }
  } else {
    static_assert(std::is_invocable_v<Part &>,
        "the code takes the state (by value or by reference), or nothing");
    if constexpr (std::is_void_v<std::invoke_result_t<Part &>>) {
      part();
    } else {
      keep(part());
    }
  }
}

/* Between two copies: neither the state nor memory has a known value. */
template <class State>
HAIRSPRING_INLINE inline void part_copies(State &state) {
  if constexpr (!std::is_const_v<State>) opaque(state);
  HAIRSPRING_USE_MEMORY();
}

/* The code of a chain: its result, if any, is the next state. */
template <class Code, class State>
struct Link {
  Code code;
  [[gnu::always_inline, gnu::flatten]] void operator()(State &state) {
    if constexpr (std::is_void_v<std::invoke_result_t<Code &, State &>>) {
      code(state);
    } else {
      state = static_cast<State>(code(state));
    }
  }
};

template <class Code>
struct Called {
  Code code;
  template <class... State>
  [[gnu::noinline]] auto operator()(State &&...state) -> std::invoke_result_t<Code &, State &&...> {
    return code(std::forward<State>(state)...);
  }
};

/* All parts of a benchmark. */
template <class Code, class Make, class Init, class Cold, class Setup>
struct Parts {
  Code code;
  Make make;
  Init init;
  Cold cold;
  Setup setup;
};

/* Whether code failed, and why. */
struct Outcome {
  std::string failure;
  bool failed = false;
};

/* The context that a row gets through its argument: the parts, and the value of the benchmark's
 * argument. */
template <class Parts>
struct Context : Outcome {
  Context(Parts all, std::int64_t value) : parts(std::move(all)), argument(value) {}
  Parts parts;
  std::int64_t argument;
};

template <class Context>
Context &context_of(std::int64_t argument) {
  return *reinterpret_cast<Context *>(static_cast<std::intptr_t>(argument));
}

#if defined(__cpp_exceptions)
/* The name of the exception's type. */
inline std::string name_of_thrown([[maybe_unused]] const std::exception &thrown) {
#if defined(__cpp_rtti)
  int status = 0;
  const char *const name = typeid(thrown).name();
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? plain.get() : name;
#else
  return "std::exception";
#endif
}

/* Call this in a catch block: it keeps the text of the exception. */
[[gnu::noinline, gnu::cold]] inline std::uint64_t caught(Outcome &outcome) {
  outcome.failed = true;
  try {
    throw;
  } catch (const std::exception &thrown) {
    outcome.failure = name_of_thrown(thrown) + ": " + thrown.what();
  } catch (...) {
    outcome.failure = "something that is not a std::exception";
  }
  return HAIRSPRING_FAILED;
}

/* Runs code that may throw. After an exception this call and all later ones return
 * HAIRSPRING_FAILED. */
template <class Run>
HAIRSPRING_INLINE inline std::uint64_t run_catching(Outcome &outcome, Run run) {
  if (outcome.failed) return HAIRSPRING_FAILED;
  try {
    return run();
  } catch (...) {
    return caught(outcome);
  }
}
#else
template <class Run>
HAIRSPRING_INLINE inline std::uint64_t run_catching(Outcome &, Run run) {
  return run();
}
#endif

/* A copy of the code for one row, so that values that it captured may stay in registers. */
template <class Code>
using Local = std::conditional_t<std::is_copy_constructible_v<Code>, Code, Code &>;

/* ---- rows ------------------------------------------------------------------------------------ */

/* How bodies and inits follow each other. */
enum class Order : std::uint32_t {
  at_end = HAIRSPRING_ORDER_AT_END,
  in_place = HAIRSPRING_ORDER_IN_PLACE,
  fenced = HAIRSPRING_ORDER_FENCED,
  shadow = HAIRSPRING_ORDER_SHADOW,
};

template <Order order, class Init, class State>
HAIRSPRING_INLINE inline void init_once(Init &init, State &state) {
  if constexpr (order == Order::fenced || order == Order::shadow) HAIRSPRING_FENCE();
  if constexpr (order != Order::shadow) {
    call(init, state);
    part_copies(state);
  }
  if constexpr (order == Order::fenced || order == Order::shadow) HAIRSPRING_FENCE();
}

template <Order order, class Code, class State>
HAIRSPRING_INLINE inline void body_once(Code &code, State &state) {
  if constexpr (order == Order::shadow) {
    HAIRSPRING_CHAIN();
  } else {
    call(code, state);
    part_copies(state);
  }
}

/* Copies one after the other: a fold, not a loop. */
template <std::size_t... At, class Copy>
HAIRSPRING_INLINE inline void unrolled(std::index_sequence<At...>, [[maybe_unused]] Copy copy) {
  ((static_cast<void>(At), copy()), ...);
}
template <unsigned copies, class Copy>
HAIRSPRING_INLINE inline void repeat(Copy copy) {
  unrolled(std::make_index_sequence<copies>{}, copy);
}

/* A state that costs nothing to make: it owns no memory, and fits a line of the cache. */
template <class State>
inline constexpr bool is_light = sizeof(State) <= 64 && std::is_trivially_destructible_v<State>;

/* Copies that run on a heavy state before the ones that are timed. */
inline constexpr unsigned warming_copies = 64;

/* The time of a row's copies. To make a heavy state displaces from the caches and predictors what
 * the copies use, so a row that makes one first runs its copies on it, once or until enough have
 * run. A state that all rows share is warm anyway. */
template <class Made, unsigned bodies, class Copies>
HAIRSPRING_INLINE inline std::uint64_t timed(hairspring_read now, Copies copies) {
  constexpr bool is_warm = std::is_lvalue_reference_v<Made> ||
      is_light<std::remove_reference_t<Made>>;
  for (unsigned runs_left = is_warm ? 0 : (warming_copies + bodies - 1) / bodies;; runs_left -= 1) {
    const std::uint64_t begin = now();
    copies();
    const std::uint64_t ticks = now() - begin;
    if constexpr (is_warm) return ticks;
    opaque(runs_left);  // so that the compiler keeps one copy of the code
    if (runs_left == 0) return ticks;
  }
}

/* Copies in a row; `runs` blocks of them, which the compiler must not lay out one after the other.
 * */
template <unsigned copies, unsigned runs, class Copy>
HAIRSPRING_INLINE inline void repeat_in_blocks(Copy copy) {
  if constexpr (runs == 1) {
    repeat<copies>(copy);
  } else {
    for (unsigned runs_left = runs; runs_left > 0; runs_left -= 1) {
      opaque(runs_left);
      repeat<copies>(copy);
    }
  }
}

template <class Parts, unsigned copies, unsigned runs>
[[gnu::noinline, gnu::aligned(64)]] std::uint64_t line_row(hairspring_read now,
    std::int64_t argument) {
  auto &context = context_of<Context<Parts>>(argument);
  return run_catching(context, [&]() HAIRSPRING_INLINE {
    Local<decltype(context.parts.code)> code = context.parts.code;
    auto &&state = context.parts.make(context.argument);
    part_copies(state);
    return timed<decltype(context.parts.make(context.argument)), copies * runs>(now,
        [&]() HAIRSPRING_INLINE {
      repeat_in_blocks<copies,
          runs>([&]() HAIRSPRING_INLINE { body_once<Order::at_end>(code, state); });
    });
  });
}

/* `each` inits before every body, and further ones at the end. */
template <class Parts, Order order, unsigned bodies, unsigned each, unsigned extra>
[[gnu::noinline, gnu::aligned(64)]] std::uint64_t plane_row(hairspring_read now,
    std::int64_t argument) {
  auto &context = context_of<Context<Parts>>(argument);
  return run_catching(context, [&]() HAIRSPRING_INLINE {
    Local<decltype(context.parts.code)> code = context.parts.code;
    Local<decltype(context.parts.init)> init = context.parts.init;
    auto &&state = context.parts.make(context.argument);
    part_copies(state);
    return timed<decltype(context.parts.make(context.argument)), bodies>(now,
        [&]() HAIRSPRING_INLINE {
      repeat<bodies>([&]() HAIRSPRING_INLINE {
        repeat<each>([&]() HAIRSPRING_INLINE { init_once<order>(init, state); });
        body_once<order>(code, state);
      });
      repeat<extra>([&]() HAIRSPRING_INLINE { init_once<order>(init, state); });
    });
  });
}

#ifdef HAIRSPRING_FLUSH_LINE
template <class Parts, Order order, unsigned bodies, unsigned extra>
[[gnu::noinline, gnu::aligned(64)]] std::uint64_t cold_row(hairspring_read now,
    std::int64_t argument) {
  auto &context = context_of<Context<Parts>>(argument);
  return run_catching(context, [&]() HAIRSPRING_INLINE {
    Local<decltype(context.parts.code)> code = context.parts.code;
    auto &&state = context.parts.make(context.argument);
    const Bytes data = context.parts.cold(state);
    hairspring_touch(data.start, data.count);
    part_copies(state);
    const std::uint64_t begin = now();
    repeat<bodies>([&]() HAIRSPRING_INLINE {
      hairspring_flush(data.start, data.count);
      body_once<order>(code, state);
    });
    repeat<extra>([&]() HAIRSPRING_INLINE { hairspring_flush(data.start, data.count); });
    return now() - begin;
  });
}

template <class Parts, Order order>
void add_cold(std::vector<hairspring_row> &rows) {
  constexpr auto number = static_cast<std::uint32_t>(order) + HAIRSPRING_COMPILED;
#define HAIRSPRING_COLD_ROW_OF(bodies, further, ...) {cold_row<__VA_ARGS__, bodies, further>, \
    bodies, bodies + further, number},
  rows.insert(rows.end(), {HAIRSPRING_FOR_COLD(HAIRSPRING_COLD_ROW_OF, Parts, order)});
#undef HAIRSPRING_COLD_ROW_OF
}
#endif

template <class Parts, unsigned copies>
constexpr hairspring_row block_row() {
  constexpr unsigned runs = HAIRSPRING_RUNS_OF_A_BLOCK;
  return {line_row<Parts, copies, runs>, copies * runs, 0,
      HAIRSPRING_ORDER_AT_END + HAIRSPRING_IN_BLOCKS + HAIRSPRING_COMPILED};
}

template <class Parts>
std::vector<hairspring_row> line_rows() {
#define HAIRSPRING_LINE_ROW_OF(bodies, parts) {line_row<parts, bodies, 1>, bodies, 0, \
    HAIRSPRING_ORDER_AT_END + HAIRSPRING_COMPILED},
#define HAIRSPRING_BLOCK_ROW_OF(copies, parts) block_row<parts, copies>(),
  return {HAIRSPRING_FOR_LINE(HAIRSPRING_LINE_ROW_OF, Parts)
      HAIRSPRING_FOR_BLOCKS(HAIRSPRING_BLOCK_ROW_OF, Parts)};
#undef HAIRSPRING_BLOCK_ROW_OF
#undef HAIRSPRING_LINE_ROW_OF
}

template <class Parts, unsigned bodies, unsigned extra>
constexpr hairspring_row answer_row() {
  return {plane_row<Parts, Order::at_end, bodies, 1, extra>, bodies, bodies + extra,
      HAIRSPRING_ORDER_AT_END + HAIRSPRING_COMPILED};
}

template <class Parts, Order order, unsigned bodies, unsigned each>
constexpr hairspring_row check_row() {
  return {plane_row<Parts, order, bodies, each, 0>, bodies, bodies * each,
      static_cast<std::uint32_t>(order) + HAIRSPRING_COMPILED};
}

template <class Parts, Order order>
void add_checks(std::vector<hairspring_row> &rows) {
#define HAIRSPRING_CHECK_ROW_OF(bodies, but_one, each, ...) check_row<__VA_ARGS__, bodies, each>(),
  rows.insert(rows.end(), {HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK_ROW_OF, Parts, order)});
#undef HAIRSPRING_CHECK_ROW_OF
}

template <class Parts>
std::vector<hairspring_row> plane_rows() {
#define HAIRSPRING_ANSWER_ROW_OF(bodies, further, parts) answer_row<parts, bodies, further>(),
  std::vector<hairspring_row> rows = {HAIRSPRING_FOR_PLANE(HAIRSPRING_ANSWER_ROW_OF, Parts)};
#undef HAIRSPRING_ANSWER_ROW_OF
  add_checks<Parts, Order::in_place>(rows);
  add_checks<Parts, Order::fenced>(rows);
  add_checks<Parts, Order::shadow>(rows);
  return rows;
}

/* The rows of these parts, the shortest first. */
template <class Code, class Make, class Init, class Cold, class Setup>
std::vector<hairspring_row> rows_of(const Parts<Code, Make, Init, Cold, Setup> &) {
  using All = Parts<Code, Make, Init, Cold, Setup>;
  constexpr bool has_init = !std::is_same_v<Init, None>, is_cold = !std::is_same_v<Cold, None>;
  static_assert(!(has_init && is_cold), "a benchmark has an init or cold caches, not both");
  if constexpr (is_cold) {
#ifdef HAIRSPRING_FLUSH_LINE
    std::vector<hairspring_row> rows;
    add_cold<All, Order::at_end>(rows);
    add_cold<All, Order::shadow>(rows);
    return rows;
#else
    static_assert(!is_cold, "hairspring.h knows no way to flush caches of this processor");
#endif
  } else if constexpr (has_init) {
    return plane_rows<All>();
  } else {
    return line_rows<All>();
  }
}

/* ---- a benchmark for the C ABI --------------------------------------------------------------- */

/* A benchmark without its type: the rows, and a context with the code. */
struct Case {
  std::string name;
  const char *second;
  std::vector<hairspring_row> rows;
  std::shared_ptr<void> context;
  const std::string *failure;
  void (*setup)(std::int64_t context);
  bool is_alternative;
};

template <class Parts>
void run_setup(std::int64_t argument) {
  auto &context = context_of<Context<Parts>>(argument);
  run_catching(context, [&] {
    context.parts.setup(context.argument);
    return std::uint64_t{0};
  });
}

}  // namespace detail

/* Benchmarks that run in the same rounds, once for each argument; made from a benchmark or by
 * compare. */
class Group {
 public:
  Group(std::vector<detail::Case> cases) : cases_(std::move(cases)) {}
  const std::vector<detail::Case> &cases() const { return cases_; }

 private:
  std::vector<detail::Case> cases_;
};

/* A benchmark. Adding a part gives a benchmark of another type, so that everything is known at
 * compile time. */
template <class Parts>
class Bench {
 public:
  Bench(std::string name, Parts parts) : name_(std::move(name)), parts_(std::move(parts)) {}

  /* Makes the state, once for each row, before the clock is read: make(argument) or make(). The
   * default state is the argument. All rows share a state that is returned by reference; that is
   * best for one that takes long to make. On a state that owns memory or is large, the copies of a
   * row, up to 256, run first without being timed, once or until 64 have run. */
  template <class Make>
  auto state(Make make) && {
    if constexpr (std::is_invocable_v<Make &, std::int64_t>) {
      return with(std::move(parts_.code), std::move(make), std::move(parts_.init),
          std::move(parts_.cold), std::move(parts_.setup));
    } else {
      auto made = [make = std::move(make)](std::int64_t)
          mutable -> decltype(auto) { return make(); };
      return with(std::move(parts_.code), std::move(made), std::move(parts_.init),
          std::move(parts_.cold), std::move(parts_.setup));
    }
  }

  /* Runs before every body, init(state) or init(), as a separate component. */
  template <class Init>
  auto init(Init init) && {
    return with(std::move(parts_.code), std::move(parts_.make), std::move(init),
        std::move(parts_.cold), std::move(parts_.setup));
  }

  /* The Bytes that cold(state) names are flushed from all caches before every body. */
  template <class Cold>
  auto cold(Cold cold) && {
    return with(std::move(parts_.code), std::move(parts_.make), std::move(parts_.init),
        std::move(cold), std::move(parts_.setup));
  }

  /* Runs once before the first row: setup(argument) or setup(). */
  template <class Setup>
  auto setup(Setup setup) && {
    if constexpr (std::is_invocable_v<Setup &, std::int64_t>) {
      return with(std::move(parts_.code), std::move(parts_.make), std::move(parts_.init),
          std::move(parts_.cold), std::move(setup));
    } else {
      auto without = [setup = std::move(setup)](std::int64_t) mutable { setup(); };
      return with(std::move(parts_.code), std::move(parts_.make), std::move(parts_.init),
          std::move(parts_.cold), std::move(without));
    }
  }

  /* Runs with each of these values; results are named `name/argument:value`. */
  Bench argument(std::string name, std::initializer_list<std::int64_t> values) && {
    argument_name_ = std::move(name);
    arguments_ = values;
    return std::move(*this);
  }

  /* The benchmark with each of its arguments. */
  std::vector<Group> groups() const {
    std::vector<Group> all_groups;
    for (const auto &one : cases(argument_name_, arguments_)) all_groups.push_back(Group({one}));
    return all_groups;
  }

  /* One case for each argument; a single case if there are no arguments. */
  std::vector<detail::Case> cases(const std::string &argument_name,
      const std::vector<std::int64_t> &arguments) const {
    std::vector<detail::Case> all_cases;
    for (const std::int64_t argument : arguments)
      all_cases.push_back(
          one(name_ + "/" + argument_name + ":" + std::to_string(argument), argument));
    if (arguments.empty()) all_cases.push_back(one(name_, 0));
    return all_cases;
  }

  const std::string &argument_name() const { return argument_name_; }
  const std::vector<std::int64_t> &arguments() const { return arguments_; }

 private:
  template <class Code, class Make, class Init, class Cold, class Setup>
  auto with(Code code, Make make, Init init, Cold cold, Setup setup) {
    using Next = detail::Parts<Code, Make, Init, Cold, Setup>;
    Bench<Next> next(std::move(name_), Next{std::move(code), std::move(make), std::move(init),
        std::move(cold), std::move(setup)});
    next.argument_name_ = std::move(argument_name_);
    next.arguments_ = std::move(arguments_);
    return next;
  }

  detail::Case one(std::string name, std::int64_t argument) const {
    using Context = detail::Context<Parts>;
    auto context = std::make_shared<Context>(parts_, argument);
    const auto is_cold = !std::is_same_v<decltype(parts_.cold), detail::None>;
    return {std::move(name), is_cold ? "flush" : nullptr, detail::rows_of(parts_), context,
        &context->failure, detail::run_setup<Parts>, false};
  }

  template <class Other>
  friend class Bench;

  std::string name_;
  Parts parts_;
  std::string argument_name_;
  std::vector<std::int64_t> arguments_;
};

/* Code to be timed: code(state), with the state by value or by reference, or code(). Its result
 * counts as used. Copies that change their state wait for each other; others overlap as far as the
 * processor can, and the time is a throughput. */
template <class Code>
auto bench(std::string name, Code code) {
  using Parts = detail::Parts<Code, detail::ArgumentIsState, detail::None, detail::None,
      detail::None>;
  return Bench<Parts>(std::move(name), Parts{std::move(code), {}, {}, {}, {}});
}

/* A chain, whose time is a latency: code(state) changes the state or returns the next one. It
 * begins with `initial`. */
template <class State, class Code>
auto chain(std::string name, State initial, Code code) {
  static_assert(std::is_invocable_v<Code &, State &>, "the code of a chain takes its state");
  return bench(std::move(name), detail::Link<Code, State>{std::move(code)})
      .state(detail::Copied<State>{std::move(initial)});
}

/* Code that is called and not inlined; the call is part of the time. Use it for long code, which
 * then has only one copy. */
template <class Code>
auto called(Code code) {
  return detail::Called<Code>{std::move(code)};
}

/* Benchmarks in the same rounds: the others are compared with the first, and all have the first
 * one's arguments. */
template <class First, class... Others>
std::vector<Group> compare(const Bench<First> &first, const Bench<Others> &...others) {
  std::vector<std::vector<detail::Case>> all_cases = {first.cases(first.argument_name(),
      first.arguments()), others.cases(first.argument_name(), first.arguments())...};
  std::vector<Group> groups;
  for (std::size_t argument = 0; argument < all_cases[0].size(); argument += 1) {
    std::vector<detail::Case> together;
    for (std::size_t at = 0; at < all_cases.size(); at += 1) {
      together.push_back(all_cases[at][argument]);
      together.back().is_alternative = at > 0;
    }
    groups.push_back(Group(std::move(together)));
  }
  return groups;
}

/* make(name, tag) gives the benchmark for a type, which is `typename decltype(tag)::type`;
 * `name<type>` is its name. */
template <class... Types, class Make>
std::vector<Group> bench_types(const std::string &name, Make make) {
  std::vector<Group> all_groups;
  for (const auto &groups
      : {make(name + "<" + name_of<Types>() + ">", TypeTag<Types>{}).groups()...})
    all_groups.insert(all_groups.end(), groups.begin(), groups.end());
  return all_groups;
}

/* As bench_types, with all types in the same rounds: the others are compared with the first. */
template <class... Types, class Make>
std::vector<Group> compare_types(const std::string &name, Make make) {
  return compare(make(name + "<" + name_of<Types>() + ">", TypeTag<Types>{})...);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* The benchmarks of a program. */
class Suite {
 public:
  template <class Parts>
  Suite &add(const Bench<Parts> &benchmark) {
    return add(benchmark.groups());
  }

  Suite &add(const std::vector<Group> &groups) {
    for (const Group &group : groups)
      cases_.insert(cases_.end(), group.cases().begin(), group.cases().end());
    return *this;
  }

  /* Reads the command line, measures and prints, as hairspring_run_program does; returns the exit
   * status. */
  int run(int argc, char **argv) const {
    std::vector<hairspring_benchmark> benchmarks;
    benchmarks.reserve(cases_.size());
    std::vector<hairspring_entry> entries;
    for (const auto &one_case : cases_) {
      benchmarks.push_back({one_case.name.c_str(), one_case.rows.data(), one_case.rows.size(),
          one_case.second});
      hairspring_entry entry{};
      entry.benchmark = &benchmarks.back();
      entry.setup = one_case.setup;
      entry.arguments[0] =
          static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(one_case.context.get()));
      entry.alternative = one_case.is_alternative ? 1 : 0;
      entries.push_back(entry);
    }
    const int status = hairspring_main(argc, argv, entries.data(), entries.size());
    return complain() ? 1 : status;
  }

 private:
  /* Reports the code that threw, and its exception. */
  bool complain() const {
    bool failed = false;
    for (const auto &one_case : cases_) {
      if (one_case.failure->empty()) continue;
      std::fprintf(stderr, "benchmark `%s` threw %s\n", one_case.name.c_str(),
          one_case.failure->c_str());
      failed = true;
    }
    return failed;
  }

  std::vector<detail::Case> cases_;
};

/* The suite that HAIRSPRING_BENCH adds to. */
inline Suite &suite() {
  static Suite all;
  return all;
}

namespace detail {

/* Adds a benchmark when the program starts. */
struct Registered {
  template <class Parts>
  Registered(const Bench<Parts> &benchmark) {
    suite().add(benchmark);
  }
  Registered(const std::vector<Group> &groups) { suite().add(groups); }
};

}  // namespace detail

/* The program of the benchmarks that were registered; returns its exit status. */
inline int main(int argc, char **argv) { return suite().run(argc, argv); }

#ifdef HAIRSPRING_ENGINE

/* ---- the stopwatch --------------------------------------------------------------------------- */

/* A failed call of the engine; what() is its text. */
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_last_error() {
  std::string text(hairspring_last_error(nullptr, 0) + 1, '\0');
  hairspring_last_error(text.data(), text.size());
  text.pop_back();
#if defined(__cpp_exceptions)
  throw Error(text);
#else
  std::fprintf(stderr, "hairspring: %s\n", text.c_str());
  std::abort();
#endif
}

HAIRSPRING_INLINE inline void check(hairspring_status status) {
  if (status != HAIRSPRING_STATUS_OK) throw_last_error();
}

}  // namespace detail

/* A time in nanoseconds with its confidence interval. Never clamped: a span shorter than the
 * overhead's spread may be below zero; then `below_resolution` is set, and `bound_ns` is its upper
 * bound. */
struct Time {
  double ns, low_ns, high_ns, level;
  bool below_resolution;
  double bound_ns;
};

/* A stopwatch that subtracts its own overhead. It measures that overhead when it is constructed (10
 * to 70 ms), and then starts: construct it once and restart it for every span. One thread at a
 * time. */
class Stopwatch {
 public:
  /* `clock` is the name of a clock; null means the best one here. Throws Error if there is no clock
   * of that name. */
  explicit Stopwatch(const char *clock = nullptr)
      : handle_(made(clock), &hairspring_stopwatch_free) { start(); }

  /* Starts or restarts. */
  HAIRSPRING_INLINE void start() {
    runs_ = true;
    detail::check(hairspring_stopwatch_start(handle_.get()));
  }

  /* The time since the start or the last lap; begins the next lap. */
  HAIRSPRING_INLINE Time lap(double level = 0.95) { return take(hairspring_stopwatch_lap, level); }

  /* The time since the start or the last lap; stops the watch, and elapsed() is then the sum of the
   * laps. */
  HAIRSPRING_INLINE Time stop(double level = 0.95) {
    const Time time = take(hairspring_stopwatch_stop, level);
    runs_ = false;
    return time;
  }

  /* The time since the start, or from the start to the stop. While the watch runs this is also a
   * lap. */
  Time elapsed(double level = 0.95) {
    if (runs_) detail::check(hairspring_stopwatch_lap(handle_.get(), &span_));
    return take(hairspring_stopwatch_total, level);
  }

 private:
  using Handle = std::unique_ptr<hairspring_stopwatch, decltype(&hairspring_stopwatch_free)>;

  static hairspring_stopwatch *made(const char *clock) {
    hairspring_stopwatch *handle = nullptr;
    detail::check(hairspring_stopwatch_new(clock, &handle));
    return handle;
  }

  static hairspring_span sized_span() {
    hairspring_span span{};
    span.size = sizeof span;
    return span;
  }

  HAIRSPRING_INLINE Time take(
      hairspring_status (*read)(const hairspring_stopwatch *, hairspring_span *), double level) {
    detail::check(read(handle_.get(), &span_));
    return time_of(level);
  }

  Time time_of(double level) const {
    hairspring_elapsed elapsed{};
    elapsed.size = sizeof elapsed;
    detail::check(hairspring_stopwatch_elapsed(handle_.get(), &span_, level, &elapsed));
    return {elapsed.ns.value, elapsed.ns.low, elapsed.ns.high, elapsed.ns.level,
        elapsed.below_resolution != 0, elapsed.bound_ns};
  }

  Handle handle_;
  /* ready before the watch starts, so that filling it in does not add to the time */
  hairspring_span span_ = sized_span();
  bool runs_ = false;
};

/* Times a scope with an existing stopwatch: from here to the closing brace, where `done(time)` is
 * called or the time is written to a variable. `done` must not throw. */
template <class Done>
class ScopedSpan {
 public:
  ScopedSpan(Stopwatch &watch, Done done) : watch_(watch), done_(std::move(done)) {
    watch_.start();
  }
  ScopedSpan(const ScopedSpan &) = delete;
  ScopedSpan &operator=(const ScopedSpan &) = delete;
  ~ScopedSpan() {
    const Time time = watch_.stop();
    if constexpr (std::is_same_v<Done, Time *>) {
      *done_ = time;
    } else {
      done_(time);
    }
  }

 private:
  Stopwatch &watch_;
  Done done_;
};

#endif

}  // namespace hairspring

#define HAIRSPRING_GLUE_TWO(a, b) a##b
#define HAIRSPRING_GLUE(a, b) HAIRSPRING_GLUE_TWO(a, b)

/* HAIRSPRING_ADD(hairspring::compare(...)): registers a benchmark, or several, at namespace scope.
 * */
#define HAIRSPRING_ADD(...) \
  [[maybe_unused]] static const hairspring::detail::Registered HAIRSPRING_GLUE( \
      hairspring_registered_, __COUNTER__) = __VA_ARGS__

/* HAIRSPRING_BENCH("name", [] { ... }).argument("size", {64, 4096}); registers a benchmark at
 * namespace scope. */
#define HAIRSPRING_BENCH(...) HAIRSPRING_ADD(hairspring::bench(__VA_ARGS__))

/* The main function of a program of registered benchmarks. */
#define HAIRSPRING_MAIN_CPP \
  int main(int argc, char **argv) { return hairspring::main(argc, argv); }

#endif
