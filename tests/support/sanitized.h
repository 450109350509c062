/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sanitized.h - SANITIZED and SANITIZED_THREADS: 1 in a build with such a sanitizer, else 0.
 *
 * A sanitizer has functions of its own in the place of malloc's, keeps freed memory for a while and
 * maps terabytes, so what counts memory is left out or gets more room. */
#ifndef SX_TESTS_SANITIZED_H
#define SX_TESTS_SANITIZED_H

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SANITIZED_THREADS 1
#else
#define SANITIZED_THREADS 0
#endif

#if SANITIZED_THREADS || defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
