/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty.c - no terminal is opened by its name: its other end is derived from the first one. */
#include "launch/stdio/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static bool fits(const pmix_info_t *info, size_t size)
{
    return info == NULL || (info->value.type == PMIX_BYTE_OBJECT &&
                            info->value.data.bo.size == size && info->value.data.bo.bytes != NULL);
}

bool sx_run_pty_termio_fits(const pmix_info_t *info)
{
    return fits(info, sizeof(struct termios));
}

bool sx_run_pty_size_fits(const pmix_info_t *info)
{
    return fits(info, sizeof(struct winsize));
}

/* Return: 0 or errno. */
static int settings_make(int fd, const pmix_info_t *termio, const pmix_info_t *size)
{
    struct termios settings;
    struct winsize window;

    if (termio != NULL) {
        memcpy(&settings, termio->value.data.bo.bytes, sizeof(settings));
    } else if (tcgetattr(fd, &settings) == 0) {
        cfmakeraw(&settings); /* otherwise each line would end with CR LF */
    } else {
        return errno;
    }
    if (tcsetattr(fd, TCSANOW, &settings) != 0) {
        return errno;
    }
    if (size != NULL) {
        memcpy(&window, size->value.data.bo.bytes, sizeof(window));
    } else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) {
        return 0; /* stdout has no size to copy */
    }
    return ioctl(fd, TIOCSWINSZ, &window) != 0 ? errno : 0;
}

bool sx_run_pty_suits(int out, int err)
{
    struct stat to, beside;

    if (fstat(out, &to) != 0 || isatty(out) == 1 || S_ISFIFO(to.st_mode) || S_ISSOCK(to.st_mode)) {
        return true;
    }
    return S_ISREG(to.st_mode) && fstat(err, &beside) == 0 && to.st_dev == beside.st_dev &&
           to.st_ino == beside.st_ino;
}

/* ---- the user's own terminal ----------------------------------------------------------------- */

static struct {
    bool taken;
    struct termios before;
} users; /* each process has one terminal */

static bool is_in_front(void)
{
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
           tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void sx_run_pty_take(void)
{
    struct termios raw;

    if (!users.taken && is_in_front() && tcgetattr(STDIN_FILENO, &users.before) == 0) {
        raw = users.before;
        cfmakeraw(&raw);
        users.taken = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
}

bool sx_run_pty_give_back(void)
{
    const bool was = users.taken;

    users.taken = false;
    if (was && is_in_front()) {
        tcsetattr(STDIN_FILENO, TCSANOW, &users.before);
    }
    return was;
}

void sx_run_pty_resize(int fd)
{
    struct winsize window;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
        (void)ioctl(fd, TIOCSWINSZ, &window);
    }
}

/* For input from a file, or from a terminal elsewhere: only the byte for the end has a meaning. */
static void lines_plain(struct termios *settings)
{
    cfmakeraw(settings);
    settings->c_lflag |= ICANON;
    memset(settings->c_cc, _POSIX_VDISABLE, sizeof(settings->c_cc));
    settings->c_cc[VEOF] = SX_RUN_PTY_END;
}

/* ---- a rank's -------------------------------------------------------------------------------- */

int sx_run_pty_open_whole(int pair[2])
{
    struct termios settings;
    int why = sx_run_pty_open(pair, NULL, NULL);

    if (why != 0) {
        return why;
    }
    if (users.taken) {
        settings = users.before;
        settings.c_cc[VEOF] = SX_RUN_PTY_END;
    } else if (tcgetattr(pair[1], &settings) == 0) {
        lines_plain(&settings);
    } else {
        why = errno;
    }
    if (why == 0 && tcsetattr(pair[1], TCSANOW, &settings) != 0) {
        why = errno;
    }
    if (why != 0) {
        close(pair[0]);
        close(pair[1]);
    }
    return why;
}

int sx_run_pty_open(int pair[2], const pmix_info_t *termio, const pmix_info_t *size)
{
    const int own = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int other = -1, why = own < 0 ? errno : 0;

    if (why == 0 && unlockpt(own) == 0) {
        other = ioctl(own, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (why == 0) {
        why = other < 0 ? errno : settings_make(other, termio, size);
    }
    if (why == 0 && fcntl(own, F_SETFL, O_NONBLOCK) != 0) {
        why = errno;
    }
    if (why != 0) {
        if (own >= 0) {
            close(own);
        }
        if (other >= 0) {
            close(other);
        }
        return why;
    }
    pair[0] = own;
    pair[1] = other;
    return 0;
}
