/* The beginning of every generated file, after the processor's fences: barriers that cost no
   instruction, and the flush of cache lines. The reading of the clock comes from the instrument as
   a function pointer: one clock for every language. */
typedef uint64_t (*hs_read)(void);

/* Lines of 64 bytes are the smallest in use on the machines served; flushing one twice does no
 * harm. */
#define HS_LINE 64

/* A row is never inlined, and begins on a cache line, unless the code has several layouts. */
#ifndef HS_ALIGNMENT
#define HS_ALIGNMENT 64
#endif
#define HS_ROW __attribute__((noinline, aligned(HS_ALIGNMENT)))
#define HS_ROW_ANYWHERE __attribute__((noinline, aligned(16)))

/* A register of a clobber list. Without AVX-512 the compiler neither uses nor knows it. */
#ifdef __AVX512F__
#define HS_ABOVE_15(name) , name
#else
#define HS_ABOVE_15(name)
#endif

#define HS_BARRIER() __asm__ volatile("" : : : "memory")

#define HS_FLUSH(start, bytes)                                                                     \
    do {                                                                                           \
        const char *hs_at = (const char *)(uintptr_t)(start);                                      \
        const char *hs_end = hs_at + (bytes);                                                      \
        HS_FULL_FENCE();                                                                           \
        for (hs_at = (const char *)((uintptr_t)hs_at & ~(uintptr_t)(HS_LINE - 1)); hs_at < hs_end; \
                hs_at += HS_LINE)                                                                  \
            HS_FLUSH_LINE(hs_at);                                                                  \
        HS_FULL_FENCE();                                                                           \
    } while (0)

#define HS_TOUCH(start, bytes)                                                  \
    do {                                                                        \
        const volatile char *hs_at = (const volatile char *)(uintptr_t)(start); \
        size_t hs_i;                                                            \
        for (hs_i = 0; hs_i < (size_t)(bytes); hs_i += HS_LINE)                 \
            (void)hs_at[hs_i];                                                  \
    } while (0)

/* A note in a section that is not loaded: address, number and location of an operand. It adds no
 * instruction. */
#if defined(__x86_64__)
#define HS_NOTE(text) "661:\n\t.pushsection .hairspring,\"\"\n\t.quad 661b\n\t.asciz \"" text \
        "\"\n\t.popsection"
#else
#define HS_NOTE(text) ""
#endif
#define HS_BORDER(number) __asm__ volatile(HS_NOTE(#number " ") : : : "memory")

/* Vectors that a register holds with the compiler's flags: HS_VECTORS(one, v) is one(type, v) for
 * each of their types. */
#if defined(__SSE2__)
typedef float hs_v4sf __attribute__((vector_size(16)));
typedef double hs_v2df __attribute__((vector_size(16)));
typedef long long hs_v2di __attribute__((vector_size(16)));
#define HS_OF_16_BYTES(one, v) one(hs_v4sf, v) one(hs_v2df, v) one(hs_v2di, v)
#else
#define HS_OF_16_BYTES(one, v)
#endif
#if defined(__AVX__)
typedef float hs_v8sf __attribute__((vector_size(32)));
typedef double hs_v4df __attribute__((vector_size(32)));
typedef long long hs_v4di __attribute__((vector_size(32)));
#define HS_OF_32_BYTES(one, v) one(hs_v8sf, v) one(hs_v4df, v) one(hs_v4di, v)
#else
#define HS_OF_32_BYTES(one, v)
#endif
#if defined(__AVX512F__)
typedef float hs_v16sf __attribute__((vector_size(64)));
typedef double hs_v8df __attribute__((vector_size(64)));
typedef long long hs_v8di __attribute__((vector_size(64)));
#define HS_OF_64_BYTES(one, v) one(hs_v16sf, v) one(hs_v8df, v) one(hs_v8di, v)
#define HS_VECTOR_REGISTER "v"
#else
#define HS_OF_64_BYTES(one, v)
#if defined(__SSE2__)
#define HS_VECTOR_REGISTER "x"
#else
#define HS_VECTOR_REGISTER HS_FLOATING_REGISTER
#endif
#endif
#define HS_VECTORS(one, v) HS_OF_16_BYTES(one, v) HS_OF_32_BYTES(one, v) HS_OF_64_BYTES(one, v)

#ifdef __cplusplus
#include <type_traits>
#define HS_INLINE __attribute__((always_inline)) inline
#define HS_EXPORT extern "C" __attribute__((visibility("default")))
/* An exception must not leave the row: its caller is not C++. */
#define HS_NO_THROW noexcept

template <class T>
struct hs_in_float { static const bool value = std::is_floating_point<T>::value && sizeof(T) <= 8;
        };
template <class T>
struct hs_in_integer { static const bool value = std::is_scalar<T>::value &&
        !std::is_floating_point<T>::value && sizeof(T) <= 8; };
template <class T> struct hs_in_vector { static const bool value = false; };
#define HS_IS_IN_VECTOR(t, v) template <> struct hs_in_vector<t> { static const bool value = v; };
HS_VECTORS(HS_IS_IN_VECTOR, true)
template <class T>
struct hs_other { static const bool value = !hs_in_float<T>::value && !hs_in_integer<T>::value &&
        !hs_in_vector<T>::value; };

/* "The value may change here": adds no instruction and leaves the value in its register or memory.
 * */
template <class T> HS_INLINE typename std::enable_if<hs_in_float<T>::value>::type hs_opaque(T &v) {
    __asm__ volatile("" : "+" HS_FLOATING_REGISTER(v));
}
template <class T>
HS_INLINE typename std::enable_if<hs_in_integer<T>::value>::type hs_opaque(T &v) {
    __asm__ volatile("" : "+r"(v));
}
template <class T> HS_INLINE typename std::enable_if<hs_in_vector<T>::value>::type hs_opaque(T &v) {
    __asm__ volatile("" : "+" HS_VECTOR_REGISTER(v));
}
template <class T> HS_INLINE typename std::enable_if<hs_other<T>::value>::type hs_opaque(T &v) {
    __asm__ volatile("" : : "r"(&v) : "memory");
}
/* A constant, as what a reference refers to may be. */
template <class T> HS_INLINE void hs_opaque(const T &v) {
    __asm__ volatile("" : : "r"(&v) : "memory");
}
template <unsigned long N, class T> HS_INLINE void hs_opaque_at(const T &v) { hs_opaque(v); }
template <class T> HS_INLINE void hs_opaque_in_memory(const T &v) { hs_opaque(v); }
template <unsigned long N, class T> HS_INLINE void hs_opaque_in_memory_at(const T &v) {
    hs_opaque(v);
}
/* hs_opaque with a note of the location. */
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<hs_in_float<T>::value>::type hs_opaque_at(T &v) {
    __asm__ volatile(HS_NOTE("%c1 %0") : "+" HS_FLOATING_REGISTER(v) : "i"(N));
}
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<hs_in_integer<T>::value>::type hs_opaque_at(T &v) {
    __asm__ volatile(HS_NOTE("%c1 %0") : "+r"(v) : "i"(N));
}
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<hs_in_vector<T>::value>::type hs_opaque_at(T &v) {
    __asm__ volatile(HS_NOTE("%c1 %0") : "+" HS_VECTOR_REGISTER(v) : "i"(N));
}
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<hs_other<T>::value>::type hs_opaque_at(T &v) {
    hs_opaque(v);
}
/* hs_opaque for a variable that stays in memory. */
template <class T>
HS_INLINE typename std::enable_if<std::is_scalar<T>::value>::type hs_opaque_in_memory(T &v) {
    __asm__ volatile("" : "+m"(v));
}
template <class T>
HS_INLINE typename std::enable_if<!std::is_scalar<T>::value>::type hs_opaque_in_memory(T &v) {
    hs_opaque(v);
}
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<std::is_scalar<T>::value>::type hs_opaque_in_memory_at(T &v) {
    __asm__ volatile(HS_NOTE("%c1 %0") : "+m"(v) : "i"(N));
}
template <unsigned long N, class T>
HS_INLINE typename std::enable_if<!std::is_scalar<T>::value>::type hs_opaque_in_memory_at(T &v) {
    hs_opaque(v);
}
/* "The value is used here." */
template <class T>
HS_INLINE typename std::enable_if<hs_in_float<T>::value>::type hs_keep(const T &v) {
    __asm__ volatile("" : : HS_FLOATING_REGISTER(v));
}
template <class T>
HS_INLINE typename std::enable_if<hs_in_integer<T>::value>::type hs_keep(const T &v) {
    __asm__ volatile("" : : "r"(v));
}
template <class T>
HS_INLINE typename std::enable_if<hs_in_vector<T>::value>::type hs_keep(const T &v) {
    __asm__ volatile("" : : HS_VECTOR_REGISTER(v));
}
template <class T> HS_INLINE typename std::enable_if<hs_other<T>::value>::type hs_keep(const T &v) {
    __asm__ volatile("" : : "r"(&v) : "memory");
}

/* Turns an expression of type void into a value, and leaves any other as it is. */
struct hs_nothing {};
template <class T> HS_INLINE T &&operator,(T &&v, hs_nothing) { return static_cast<T &&>(v); }
HS_INLINE void hs_keep(const hs_nothing &) {}

/* Scalars and vectors are passed to a row by value, so that they stay in registers; everything else
 * by reference. */
template <class T, bool S = std::is_scalar<T>::value || hs_in_vector<T>::value>
struct hs_argument { typedef T type; };
template <class T> struct hs_argument<T, false> { typedef T &type; };
#define HS_OPAQUE(v) hs_opaque(v)
#define HS_OPAQUE_AT(number, v) hs_opaque_at<number>(v)
#define HS_OPAQUE_IN_MEMORY(v) hs_opaque_in_memory(v)
#define HS_OPAQUE_IN_MEMORY_AT(number, v) hs_opaque_in_memory_at<number>(v)
#define HS_KEEP(...) hs_keep(((__VA_ARGS__), hs_nothing()))
#else
#define HS_EXPORT __attribute__((visibility("default")))
#define HS_NO_THROW
#define HS_KIND(v) __builtin_classify_type(v)
#define HS_IN_FLOAT(v) (HS_KIND(v) == 8 && sizeof(v) <= 8)
/* An array, which counts as a pointer to its first element where its kind is asked for. */
#define HS_IS_ARRAY(v) (!__builtin_types_compatible_p(__typeof__(v), __typeof__(((void)0, (v)))))
#define HS_IN_INTEGER(v) (HS_KIND(v) >= 1 && HS_KIND(v) <= 5 && sizeof(v) <= 8 && !HS_IS_ARRAY(v))
#define HS_OR_IS(t, v) || __builtin_types_compatible_p(__typeof__(v), t)
#define HS_IN_VECTOR(v) (0 HS_VECTORS(HS_OR_IS, v))
/* The branches not taken must still compile: they use a null pointer that is never dereferenced. */
#define HS_OPAQUE_AS(text, v)                                                           \
    do {                                                                                \
        if (HS_IN_VECTOR(v)) {                                                          \
            __asm__ volatile(text : "+" HS_VECTOR_REGISTER(                             \
                    *__builtin_choose_expr(HS_IN_VECTOR(v), &(v), (double *)0)));       \
        } else if (HS_IN_FLOAT(v)) {                                                    \
            __asm__ volatile(text : "+" HS_FLOATING_REGISTER(                           \
                    *__builtin_choose_expr(HS_IN_FLOAT(v), &(v), (double *)0)));        \
        } else if (HS_IN_INTEGER(v)) {                                                  \
            __asm__ volatile(text                                                       \
                    : "+r"(*__builtin_choose_expr(HS_IN_INTEGER(v), &(v), (long *)0))); \
        } else {                                                                        \
            __asm__ volatile(text : "+m"(v));                                           \
        }                                                                               \
    } while (0)
#define HS_OPAQUE(v) HS_OPAQUE_AS("", v)
#define HS_OPAQUE_AT(number, v) HS_OPAQUE_AS(HS_NOTE(#number " %0"), v)
#define HS_OPAQUE_IN_MEMORY(v) __asm__ volatile("" : "+m"(v))
#define HS_OPAQUE_IN_MEMORY_AT(number, v) __asm__ volatile(HS_NOTE(#number " %0") : "+m"(v))
#define HS_IS_VOID(...) __builtin_types_compatible_p(__typeof__((__VA_ARGS__)), void)
#define HS_KEEP(...)                                                          \
    do {                                                                      \
        __auto_type hs_value = __builtin_choose_expr(HS_IS_VOID(__VA_ARGS__), \
                ((void)(__VA_ARGS__), 0), (__VA_ARGS__));                     \
        if (!HS_IS_VOID(__VA_ARGS__)) HS_OPAQUE(hs_value);                    \
    } while (0)
#endif
