/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* screen.c - the table on a terminal, with ncurses, and its keys.
 *
 *     take a sample --> draw --> wait for a key until the next one is due --key--> draw again
 *
 * Nothing else of this command needs the library, so it is mapped when the screen begins. */
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#include <curses.h>

#include "base/clock.h"
#include "base/system/library.h"
#include "cli/top/top.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

/* ---- the library ----------------------------------------------------------------------------- */

#define CALL(refused, type, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBNCURSES, refused, type, name, params, args)

/* clang-format off: a table */
CALL(NULL, SCREEN *, newterm, (const char *type, FILE *out, FILE *in), (type, out, in))
CALL(NULL, WINDOW *, newwin, (int rows, int columns, int y, int x), (rows, columns, y, x))
CALL(ERR, int, delwin, (WINDOW * window), (window))
CALL(ERR, int, endwin, (void), ())
CALL(ERR, int, cbreak, (void), ())
CALL(ERR, int, noecho, (void), ())
CALL(ERR, int, curs_set, (int visibility), (visibility))
CALL(ERR, int, keypad, (WINDOW * window, bool on), (window, on))
CALL(ERR, int, wgetch, (WINDOW * window), (window))
CALL(ERR, int, werase, (WINDOW * window), (window))
CALL(ERR, int, wrefresh, (WINDOW * window), (window))
CALL(ERR, int, clearok, (WINDOW * window, bool on), (window, on))
CALL(ERR, int, wmove, (WINDOW * window, int y, int x), (window, y, x))
CALL(ERR, int, waddnstr, (WINDOW * window, const char *text, int size), (window, text, size))
CALL(ERR, int, wattrset, (WINDOW * window, int attributes), (window, attributes))
CALL(1, int, getmaxx, (const WINDOW *window), (window))
CALL(1, int, getmaxy, (const WINDOW *window), (window))
CALL(ERR, int, start_color, (void), ())
CALL(ERR, int, use_default_colors, (void), ())
CALL(ERR, int, init_pair, (short pair, short front, short back), (pair, front, back))
CALL(FALSE, bool, has_colors, (void), ())
CALL(0, int, COLOR_PAIR, (int pair), (pair))
/* clang-format on */

/* Defined as a macro of another call in some releases. */
static void wait_at_most(WINDOW *window, int ms)
{
    __typeof__(wtimeout) *const function = SX_LIBRARY_FUNCTION(SHMIX_LIBNCURSES, "wtimeout");

    if (function != NULL) {
        function(window, ms);
    }
}

/* ---- state ----------------------------------------------------------------------------------- */

enum { PAIR_NONE, PAIR_BAD, PAIR_HEADING };

#define INPUT_MAX 64

struct screen {
    struct sx_top_wish wish;
    struct sx_top_sample before, sample;
    struct sx_top_table table;
    WINDOW *window;
    size_t chosen, first; /* lines of the table */
    bool colours, helps, details;
    pid_t detailed;
    const char *asks; /* what the input line is for; NULL: there is none */
    char input[INPUT_MAX], filter[INPUT_MAX];
};

static void table_make(struct screen *screen)
{
    sx_top_table_free(&screen->table);
    screen->wish.order.filter = screen->filter;
    sx_top_table(&screen->sample, screen->wish.view, &screen->wish.order, &screen->table);
    if (screen->chosen >= screen->table.row_count) {
        screen->chosen = screen->table.row_count > 0 ? screen->table.row_count - 1 : 0;
    }
}

static void sample_take(struct screen *screen)
{
    sx_top_free(&screen->before);
    screen->before = screen->sample;
    sx_top_take(screen->wish.server, screen->wish.nspace, &screen->before, &screen->sample);
    table_make(screen);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static int attributes(const struct screen *screen, int pair)
{
    const int plain = pair == PAIR_HEADING ? (int)A_REVERSE
                      : pair == PAIR_BAD   ? (int)A_BOLD
                                           : (int)A_NORMAL;

    return screen->colours ? plain | (int)COLOR_PAIR(pair) : plain;
}

/* A whole line of the window, cut at its width. */
static void line_draw(struct screen *screen, int y, const char *text, int attributes_of_line)
{
    const int width = getmaxx(screen->window);
    char line[SX_TOP_LINE_MAX];

    if (y < 0 || y >= getmaxy(screen->window)) {
        return;
    }
    snprintf(line, sizeof(line), "%-*.*s", width < SX_TOP_LINE_MAX - 1 ? width : 1,
             SX_TOP_LINE_MAX - 1, text);
    (void)wattrset(screen->window, attributes_of_line);
    (void)wmove(screen->window, y, 0);
    (void)waddnstr(screen->window, line, width);
    (void)wattrset(screen->window, (int)A_NORMAL);
}

static bool is_bad(const struct sx_top_table *table, const struct sx_top_row *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (row->cells[i].is_text && (strcmp(row->cells[i].text, "stopped") == 0 ||
                                      strcmp(row->cells[i].text, "ended") == 0)) {
            return true;
        }
    }
    return false;
}

static void table_draw(struct screen *screen, int y)
{
    const size_t room = getmaxy(screen->window) > y + 2 ? (size_t)(getmaxy(screen->window) - y - 2)
                                                        : 1;
    char line[SX_TOP_LINE_MAX];

    if (screen->chosen < screen->first) {
        screen->first = screen->chosen;
    } else if (screen->chosen >= screen->first + room) {
        screen->first = screen->chosen - room + 1;
    }
    sx_top_line(&screen->table, NULL, line, sizeof(line));
    line_draw(screen, y++, line, attributes(screen, PAIR_HEADING));
    for (size_t i = screen->first; i < screen->table.row_count && i < screen->first + room; i++) {
        const struct sx_top_row *const row = &screen->table.rows[i];
        const int bad = attributes(screen, is_bad(&screen->table, row) ? PAIR_BAD : PAIR_NONE);

        sx_top_line(&screen->table, row, line, sizeof(line));
        line_draw(screen, y++, line, i == screen->chosen ? bad | (int)A_UNDERLINE : bad);
    }
}

static void help_draw(struct screen *screen, int y)
{
    static const char *const lines[] = {
        "1 2 3 4, Tab   ranks, jobs, servers, users",
        "< >            sort by the column to the left, to the right",
        "R              turn the order round",
        "P M T N        sort by CPU, memory, CPU time, process number",
        "/              show only rows that contain a text; an empty one shows all",
        "Enter          more about the rank in the chosen line",
        "arrows, PgUp   choose a line",
        "d              the time between two looks",
        "space          look now",
        "q              end, here and on the page of a rank: back",
        "",
        "OUT/s  bytes that the rank writes for the server: values, arrivals, events",
        "LANE%  how full its lane is; 100 means that the server does not read",
        "COLL/s, EVENT/s  records of the job's ring; HELD  events that not all ranks have had",
        "TURN   the most work of one turn of the server's loop, in units",
        "Gets of stored values are loads from memory, which nothing counts.",
    };

    for (size_t i = 0; i < SX_COUNT(lines); i++) {
        line_draw(screen, y++, lines[i], (int)A_NORMAL);
    }
}

/* The page of the rank that was chosen.  Return: false when it has gone. */
static bool detail_draw(struct screen *screen, int y)
{
    char lines[SX_TOP_DETAIL_MAX][SX_TOP_LINE_MAX];

    for (size_t i = 0; i < screen->sample.rank_count; i++) {
        const struct sx_top_rank *const rank = &screen->sample.ranks[i];

        if (rank->process.pid == screen->detailed) {
            const size_t count = sx_top_detail(&screen->sample, rank, lines);

            for (size_t j = 0; j < count; j++) {
                line_draw(screen, y++, lines[j], (int)A_NORMAL);
            }
            return true;
        }
    }
    return false;
}

static void foot_draw(struct screen *screen)
{
    char line[SX_TOP_LINE_MAX];

    if (screen->asks != NULL) {
        snprintf(line, sizeof(line), "%s: %s_", screen->asks, screen->input);
    } else {
        snprintf(line, sizeof(line), "%s by %s%s%s%s  (h: help, q: end)",
                 sx_top_view_names[screen->wish.view],
                 screen->table.columns[screen->wish.order.column].heading,
                 screen->wish.order.up ? ", turned round" : "",
                 screen->filter[0] != '\0' ? ", with " : "", screen->filter);
    }
    line_draw(screen, getmaxy(screen->window) - 1, line, attributes(screen, PAIR_HEADING));
}

static void draw(struct screen *screen)
{
    char head[SX_TOP_HEAD_MAX][SX_TOP_LINE_MAX];
    const size_t count = sx_top_head(&screen->sample, head);
    int y = 0;

    (void)werase(screen->window);
    for (size_t i = 0; i < count; i++) {
        line_draw(screen, y++, head[i], attributes(screen, i >= 2 ? PAIR_BAD : PAIR_NONE));
    }
    y++;
    if (screen->helps) {
        help_draw(screen, y);
    } else if (!screen->details || !detail_draw(screen, y)) {
        screen->details = false;
        table_draw(screen, y);
    }
    foot_draw(screen);
    (void)wrefresh(screen->window);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void view_set(struct screen *screen, enum sx_top_view view)
{
    screen->wish.view = view;
    screen->wish.order = sx_top_order_first(view);
    screen->chosen = screen->first = 0;
    table_make(screen);
}

static void sort_set(struct screen *screen, const char *heading)
{
    const size_t column = sx_top_column_find(screen->wish.view, heading);

    if (column < screen->table.column_count) {
        screen->wish.order.column = column;
        screen->wish.order.up = false;
        table_make(screen);
    }
}

static void sort_move(struct screen *screen, size_t by)
{
    screen->wish.order.column = (screen->wish.order.column + by) % screen->table.column_count;
    table_make(screen);
}

static void choose(struct screen *screen, long by)
{
    const long last = screen->table.row_count > 0 ? (long)screen->table.row_count - 1 : 0;
    const long wanted = (long)screen->chosen + by;

    screen->chosen = (size_t)(wanted < 0 ? 0 : wanted > last ? last : wanted);
}

static void detail_begin(struct screen *screen)
{
    if (screen->wish.view == SX_TOP_RANKS && screen->table.row_count > 0) {
        const size_t index = screen->table.rows[screen->chosen].index;

        screen->detailed = screen->sample.ranks[index].process.pid;
        screen->details = true;
    }
}

static void ask(struct screen *screen, const char *what)
{
    screen->asks = what;
    screen->input[0] = '\0';
}

static const char filter_text[] = "only rows with", delay_text[] = "seconds between two looks";

static void input_end(struct screen *screen)
{
    uint64_t delay_ns;

    if (screen->asks == filter_text) {
        memcpy(screen->filter, screen->input, sizeof(screen->filter));
        table_make(screen);
    } else if (sx_cli_seconds(&delay_ns, screen->input) && delay_ns >= 50 * SX_NS_PER_MS) {
        screen->wish.delay_ns = delay_ns;
    }
    screen->asks = NULL;
}

static void input_key(struct screen *screen, int key)
{
    const size_t len = strlen(screen->input);

    if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        input_end(screen);
    } else if (key == 27) { /* Escape */
        screen->asks = NULL;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && len > 0) {
        screen->input[len - 1] = '\0';
    } else if (key >= 0x20 && key < 0x7f && len < INPUT_MAX - 1) {
        screen->input[len] = (char)key;
        screen->input[len + 1] = '\0';
    }
}

static void window_make(struct screen *screen)
{
    if (screen->window != NULL) {
        (void)delwin(screen->window);
    }
    screen->window = newwin(0, 0, 0, 0);
    if (screen->window != NULL) {
        (void)keypad(screen->window, TRUE);
        (void)clearok(screen->window, TRUE);
    }
}

/* A key that sorts or moves.  Return: false for another. */
static bool table_key(struct screen *screen, int key)
{
    static const struct {
        char key;
        const char *heading;
    } sorts[] = { { 'P', "%CPU" }, { 'M', "RSS" }, { 'T', "TIME" }, { 'N', "PID" } };

    for (size_t i = 0; i < SX_COUNT(sorts); i++) {
        if (key == sorts[i].key) {
            sort_set(screen, sorts[i].heading);
            return true;
        }
    }
    switch (key) {
    case '<':
        sort_move(screen, screen->table.column_count - 1);
        return true;
    case '>':
        sort_move(screen, 1);
        return true;
    case 'R':
        screen->wish.order.up = !screen->wish.order.up;
        table_make(screen);
        return true;
    case KEY_UP:
    case 'k':
        choose(screen, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        choose(screen, 1);
        return true;
    case KEY_PPAGE:
        choose(screen, -20);
        return true;
    case KEY_NPAGE:
        choose(screen, 20);
        return true;
    case KEY_HOME:
        choose(screen, INT32_MIN);
        return true;
    case KEY_END:
        choose(screen, INT32_MAX);
        return true;
    default:
        return false;
    }
}

/* Return: false when the user leaves. */
static bool key_take(struct screen *screen, int key)
{
    if (screen->asks != NULL && key != KEY_RESIZE) {
        input_key(screen, key);
        return true;
    }
    if (table_key(screen, key)) {
        return true;
    }
    switch (key) {
    case 'q':
    case 27:
        if (!screen->helps && !screen->details) {
            return false;
        }
        screen->helps = screen->details = false;
        return true;
    case 'h':
    case '?':
        screen->helps = !screen->helps;
        return true;
    case '1':
    case '2':
    case '3':
    case '4':
        view_set(screen, (enum sx_top_view)(key - '1'));
        return true;
    case '\t':
        view_set(screen, (screen->wish.view + 1) % SX_TOP_VIEWS);
        return true;
    case '\n':
    case '\r':
    case KEY_ENTER:
        detail_begin(screen);
        return true;
    case '/':
        ask(screen, filter_text);
        return true;
    case 'd':
    case 's':
        ask(screen, delay_text);
        return true;
    case ' ':
        sample_take(screen);
        return true;
    case KEY_RESIZE:
        window_make(screen);
        return screen->window != NULL;
    default:
        return true;
    }
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* Whether the library is there; else a message has been printed. */
static bool library_check(void)
{
    const char *const term = getenv("TERM");

    if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0) {
        sx_say("TERM is %s: lines instead of the screen", term == NULL ? "not set" : term);
        return false;
    }
    if (sx_library_try(SHMIX_LIBNCURSES) != 0 ||
        sx_library_find(SHMIX_LIBNCURSES, "newterm") == NULL) {
        sx_say(
            "%s is not here: lines instead of the screen; install ncurses (Debian: libncursesw6)",
            SHMIX_LIBNCURSES);
        return false;
    }
    return true;
}

static void colours_begin(struct screen *screen)
{
    const char *const none = getenv("NO_COLOR");

    if ((none == NULL || none[0] == '\0') && has_colors() && start_color() == OK) {
        const short back = use_default_colors() == OK ? -1 : COLOR_BLACK;

        (void)init_pair(PAIR_BAD, COLOR_RED, back);
        (void)init_pair(PAIR_HEADING, COLOR_BLACK, COLOR_CYAN);
        screen->colours = true;
    }
}

/* Until the user leaves, enough was seen, or the server that was named has gone. */
static void watch(struct screen *screen)
{
    uint64_t next_ns = sx_deadline_ns(sx_now_ns(), SX_NS_PER_SEC / 4); /* the first rates */
    int64_t looks = 0;

    for (;;) {
        draw(screen);
        const uint64_t now_ns = sx_now_ns();

        wait_at_most(screen->window,
                     next_ns > now_ns ? (int)((next_ns - now_ns) / SX_NS_PER_MS) + 1 : 0);
        const int key = wgetch(screen->window);

        if (key != ERR && !key_take(screen, key)) {
            return;
        }
        if (sx_now_ns() < next_ns) {
            continue;
        }
        sample_take(screen);
        next_ns = sx_deadline_ns(sx_now_ns(), screen->wish.delay_ns);
        looks++;
        if (looks == screen->wish.count ||
            (screen->wish.server != 0 && screen->sample.server_count == 0)) {
            return;
        }
    }
}

int sx_top_screen(const struct sx_top_wish *wish)
{
    struct screen screen = { .wish = *wish };

    if (!library_check()) {
        return -1;
    }
    if (wish->order.filter != NULL) {
        snprintf(screen.filter, sizeof(screen.filter), "%s", wish->order.filter);
    }
    (void)setlocale(LC_ALL, "");
    if (newterm(NULL, stdout, stdin) == NULL) {
        sx_say("the terminal '%.64s' is not known here: lines instead of the screen",
               getenv("TERM"));
        return -1;
    }
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    colours_begin(&screen);
    window_make(&screen);
    if (screen.window != NULL) {
        sample_take(&screen);
        watch(&screen);
    }
    (void)endwin();
    sx_top_table_free(&screen.table);
    sx_top_free(&screen.before);
    sx_top_free(&screen.sample);
    return 0;
}
