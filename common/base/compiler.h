/* SPDX-License-Identifier: MIT */
/* Compiler attributes behind macros: the only place that knows GNU syntax. */
#ifndef GTEL_BASE_COMPILER_H
#define GTEL_BASE_COMPILER_H

#if defined(__GNUC__)
/* Checks a printf-like function; counted from 1. */
#if defined(__MINGW32__)
#define GTEL_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define GTEL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#endif
#if defined(_WIN32)
#define GTEL_EXPORT __declspec(dllexport)
#else
#define GTEL_EXPORT __attribute__((visibility("default")))
#endif
#define GTEL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define GTEL_PRINTF(fmt, args)
#define GTEL_EXPORT
#define GTEL_UNLIKELY(x) (x)
#endif

#define GTEL_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
