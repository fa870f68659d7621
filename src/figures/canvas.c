/* canvas.c: the common style, and layout by measuring text before gnuplot sees it. */
#include "figures/canvas.h"

#include "figures/names.h"

#include <math.h>
#include <string.h>

enum { SCRIPT_MAX = 1 << 26, DATA_MAX = 1 << 30 };

static const double PIXELS_PER_POINT = 96.0 / 72;

canvas canvas_new(arena *a)
{
    return (canvas){.script = text_new(SCRIPT_MAX), .data = text_new(DATA_MAX), .memory = a};
}

void canvas_free(canvas *c)
{
    text_free(&c->script);
    text_free(&c->data);
}

const char *canvas_kept(canvas *c, const char *string)
{
    if (!string)
        c->script.status = QKS_MEMORY;
    return string ? string : "";
}

static const char STYLE[] = "reset\n"
                            "set encoding utf8\n"
                            "set datafile separator comma\n"
                            "set datafile columnheaders\n"
                            "set style fill solid 1 noborder\n"
                            "set border 3 lw 0.8 lc rgb '#9ca3af'\n"
                            "set tics nomirror out scale 0.5 textcolor rgb '#1f2937'\n"
                            "set grid noxtics ytics back lt 1 lw 0.6 lc rgb '#e5e7eb'\n"
                            "set minussign\n"
                            "unset key\n";

/* Type, lines and points come out of one size in every format. In SVG text stays text: the reader's
 * own sans-serif. */
static const char TERMINALS[] =
    "family = format eq 'svg' ? 'sans-serif' : 'DejaVu Sans'\n"
    "dot = format eq 'svg' ? 0.77 : 1.0\n"
    "if (format eq 'png') {\n"
    "    set terminal pngcairo noenhanced size 2 * width, 2 * height font family . ',10' \\\n"
    "        fontscale 2 linewidth 2 pointscale 2 background '#ffffff'\n"
    "}\n"
    "if (format eq 'svg') {\n"
    "    set terminal svg noenhanced size width, height font family . ',10' \\\n"
    "        fontscale 1.333 background '#ffffff'\n"
    "}\n"
    "if (format eq 'pdf') {\n"
    "    set terminal pdfcairo noenhanced size width / 96.0, height / 96.0 font family . ',10' "
    "\\\n"
    "        fontscale 0.75 linewidth 1.5 pointscale 0.75 background '#ffffff'\n"
    "}\n"
    "set output 'figure.' . format\n";

void canvas_print(const canvas *c, const char *name, text *out)
{
    text_addf(out,
              "# %s: draws figure.png, figure.svg and figure.pdf from data.csv beside it.\n"
              "#     gnuplot figure.gp\n"
              "#     gnuplot -e \"formats = 'svg'\" figure.gp\n"
              "if (!exists('formats')) { formats = 'png svg pdf' }\n"
              "if (!exists('format')) {\n"
              "    self = ARG0\n"
              "    do for [format in formats] { load self }\n"
              "    exit\n"
              "}\n"
              "width = %.0f; height = %.0f # in 1/96 inch\n\n",
              name, c->width, c->height);
    text_add(out, STYLE);
    text_add(out, TERMINALS);
    text_add(out, "\n");
    text_append(out, text_string(&c->script), c->script.length);
    text_add(out, "unset output\n");
    if (c->script.status != QKS_OK)
        out->status = c->script.status;
}

/* ---- layout ---- */

double type_width(const char *line, double points)
{
    return name_width(line) * points * PIXELS_PER_POINT;
}

double type_height(double points)
{
    return 1.25 * points * PIXELS_PER_POINT;
}

double screen_x(const canvas *c, double x)
{
    return x / c->width;
}

double screen_y(const canvas *c, double y)
{
    return 1 - y / c->height;
}

void canvas_size(canvas *c, double width, double height)
{
    c->width = ceil(width);
    c->height = ceil(height);
}

void canvas_area(canvas *c, double left, double top, double right, double bottom)
{
    c->left = left;
    c->right = right;
    c->top = top;
    c->bottom = bottom;
    text_addf(&c->script,
              "set lmargin at screen %.5f; set rmargin at screen %.5f; "
              "set tmargin at screen %.5f; set bmargin at screen %.5f\n",
              screen_x(c, left), screen_x(c, right), screen_y(c, top), screen_y(c, bottom));
}

void panels_begin(canvas *c)
{
    text_add(&c->script, "set multiplot\n");
}

void panels_next(canvas *c)
{
    text_add(&c->script, "unset label; unset arrow; unset object\n");
}

void panels_end(canvas *c)
{
    text_add(&c->script, "unset multiplot\n");
}

void canvas_text(canvas *c, double x, double y, text_side side, double points, colour ink,
                 const char *line)
{
    static const char *const sides[] = {"left", "center", "right"};
    text_add(&c->script, "set label ");
    gnuplot_string(&c->script, line);
    text_addf(&c->script,
              " at screen %.5f, screen %.5f %s noenhanced font ',%g' textcolor rgb '#%06x'\n",
              screen_x(c, x), screen_y(c, y), sides[side], points, ink);
}

void canvas_title(canvas *c, const char *title, const char *subtitle)
{
    text_add(&c->script, "set label ");
    gnuplot_string(&c->script, title);
    text_addf(&c->script,
              " at screen %.5f, screen %.5f left noenhanced font family . ' Bold,%d' textcolor rgb "
              "'#%06x'\n",
              screen_x(c, c->left), screen_y(c, 22), TYPE_TITLE, COLOUR_INK);
    canvas_text(c, c->left, 44, TEXT_LEFT, TYPE_SMALL, COLOUR_QUIET, subtitle);
}

double title_width(const char *title, const char *subtitle)
{
    return fmax(1.2 * type_width(title, TYPE_TITLE), type_width(subtitle, TYPE_SMALL)) + 12;
}

void canvas_note(canvas *c, const char *note)
{
    canvas_text(c, c->left, c->height - 14, TEXT_LEFT, TYPE_SMALL, COLOUR_QUIET, note);
}

void canvas_xlabel(canvas *c, const char *line)
{
    canvas_text(c, (c->left + c->right) / 2, c->bottom + 40, TEXT_CENTER, TYPE_BODY, COLOUR_INK,
                line);
}

static void turned_text(canvas *c, double x, double y, const char *line)
{
    text_add(&c->script, "set label ");
    gnuplot_string(&c->script, line);
    text_addf(&c->script,
              " at screen %.5f, screen %.5f center rotate by 90 noenhanced textcolor rgb '#%06x'\n",
              screen_x(c, x), screen_y(c, y), COLOUR_INK);
}

void canvas_ylabel(canvas *c, const char *line, double away)
{
    turned_text(c, c->left - away, (c->top + c->bottom) / 2, line);
}

void canvas_bar_label(canvas *c, const char *line, double away, double height)
{
    turned_text(c, c->right + away, c->top + height / 2, line);
}

void canvas_shown(canvas *c, bool plus, int decimals)
{
    text_addf(&c->script,
              "shown(x) = abs(x) < %g ? '%.*f' : x < 0 ? sprintf('−%%.%df', -x) : "
              "sprintf('%s%%.%df', x)\n",
              0.5 * pow(10, -decimals), decimals, 0.0, decimals, plus ? "+" : "", decimals);
}

/* ---- models along x ---- */

enum { SLOTS_LEAST = 380, SLOTS_MOST = 1400 };

double slots_width(size_t count, double slot)
{
    return fmin(fmax((double)count * slot, SLOTS_LEAST), SLOTS_MOST);
}

static double longest_label(const view *v)
{
    double longest = 0;
    for (size_t i = 0; i < v->n_models; i++)
        longest = fmax(longest, type_width(v->models[i].label, TYPE_BODY));
    return longest;
}

static bool slots_turned(const view *v, double width)
{
    return longest_label(v) > width / (double)v->n_models - 8;
}

double slots_room(const view *v, double width)
{
    return slots_turned(v, width) ? 0.71 * longest_label(v) + 26 : 34;
}

/* A turned name reaches down and to the left of its tic. */
double slots_left(const view *v, double width, double left)
{
    double slot = width / (double)v->n_models;
    for (size_t i = 0; slots_turned(v, width) && i < v->n_models; i++)
        left = fmax(left, 0.71 * type_width(v->models[i].label, TYPE_BODY) + 14 -
                              slot * ((double)i + 0.5));
    return left;
}

void slots_tics(canvas *c, const view *v)
{
    double width = c->right - c->left;
    bool turned = slots_turned(v, width);
    /* Turned names need a line's height each; of more, every second or third is named. */
    size_t step = (size_t)ceil(type_height(TYPE_BODY) * (double)v->n_models / width);
    text_addf(&c->script,
              "set xrange [-0.5:%g]\nset xtics noenhanced nomirror out scale 0.3 "
              "textcolor rgb '#1f2937' %s (",
              (double)v->n_models - 0.5, turned ? "rotate by 45 right offset 0,-0.2" : "norotate");
    for (size_t i = 0; i < v->n_models; i += step) {
        text_add(&c->script, i ? ", " : "");
        gnuplot_tic(&c->script, v->models[i].label);
        text_addf(&c->script, " %zu", i);
    }
    text_add(&c->script, ")\n");
}

/* Where a phase's name stands: the lowest row in which it does not touch the one before. */
enum { PHASE_ROWS = 3, PHASE_ROW_HEIGHT = 15, PHASE_GAP = 10 };

typedef struct phase_place {
    double ends[PHASE_ROWS]; /* right ends of the rows so far */
} phase_place;

static bool has_phases(const view *v)
{
    return v->training && (v->n_groups > 1 || (v->n_groups == 1 && v->groups[0].label));
}

static double phase_middle(const view *v, const view_group *g, double width)
{
    return width * (double)(g->first + g->end) / 2 / (double)v->n_models;
}

static int place_phase(phase_place *p, double middle, double length)
{
    int row = 0;
    while (row < PHASE_ROWS && middle - length / 2 < p->ends[row])
        row++;
    if (row < PHASE_ROWS)
        p->ends[row] = middle + length / 2 + PHASE_GAP;
    return row;
}

static int phase_rows(const view *v, double width)
{
    phase_place p = {{-1e9, -1e9, -1e9}};
    int rows = 0;
    for (size_t i = 0; i < v->n_groups; i++) {
        const view_group *g = &v->groups[i];
        if (!g->label)
            continue;
        int row = place_phase(&p, phase_middle(v, g, width), type_width(g->label, TYPE_SMALL));
        rows = row < PHASE_ROWS && row + 1 > rows ? row + 1 : rows;
    }
    return rows;
}

double phases_room(const view *v, double width)
{
    return has_phases(v) ? phase_rows(v, width) * (double)PHASE_ROW_HEIGHT + 4 : 0;
}

void phases_lines(canvas *c, const view *v)
{
    for (size_t i = 1; v->training && i < v->n_groups; i++)
        text_addf(&c->script,
                  "set arrow from first %g, graph 0 to first %g, graph 1 nohead back dt (14,10) lw "
                  "0.9 lc rgb '#%06x'\n",
                  (double)v->groups[i].first - 0.5, (double)v->groups[i].first - 0.5, COLOUR_QUIET);
}

void phases_names(canvas *c, const view *v)
{
    double width = c->right - c->left;
    phase_place p = {{-1e9, -1e9, -1e9}};
    for (size_t i = 0; has_phases(v) && i < v->n_groups; i++) {
        const view_group *g = &v->groups[i];
        double middle = phase_middle(v, g, width);
        if (!g->label)
            continue;
        int row = place_phase(&p, middle, type_width(g->label, TYPE_SMALL));
        if (row < PHASE_ROWS) /* else there is no room to say it */
            canvas_text(c, c->left + middle, c->top - 10 - row * (double)PHASE_ROW_HEIGHT,
                        TEXT_CENTER, TYPE_SMALL, COLOUR_QUIET, g->label);
    }
}

void phases_draw(canvas *c, const view *v)
{
    phases_names(c, v);
    phases_lines(c, v);
}

/* ---- legend: drawn here, since gnuplot's own key measures text otherwise in each format ---- */

enum { LEGEND_SAMPLE = 26, LEGEND_LINE = 21, LEGEND_MARGIN = 18 };

double legend_width(const legend_item *items, size_t count)
{
    double longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, type_width(items[i].label, TYPE_BODY));
    return LEGEND_MARGIN + LEGEND_SAMPLE + longest + 12;
}

static void legend_sample(canvas *c, const legend_item *item, double x, double y)
{
    if (item->line)
        text_addf(&c->script,
                  "set arrow from screen %.5f, screen %.5f to screen %.5f, screen %.5f nohead "
                  "front lw 2 lc rgb '#%06x'\n",
                  screen_x(c, x), screen_y(c, y), screen_x(c, x + 20), screen_y(c, y),
                  item->colour);
    if (item->point == 0)
        text_addf(&c->script,
                  "set object rectangle from screen %.5f, screen %.5f to screen %.5f, screen %.5f "
                  "front fs solid 1 noborder fc rgb '#%06x'\n",
                  screen_x(c, x + 2), screen_y(c, y + 6), screen_x(c, x + 18), screen_y(c, y - 6),
                  item->colour);
    else
        text_addf(&c->script,
                  "set label '' at screen %.5f, screen %.5f point pt %d ps dot lc rgb '#%06x'\n",
                  screen_x(c, x + 10), screen_y(c, y), item->point, item->colour);
}

void legend_draw(canvas *c, const legend_item *items, size_t count, double left, double top)
{
    for (size_t i = 0; i < count; i++) {
        double y = top + 10 + LEGEND_LINE * (double)i;
        legend_sample(c, &items[i], left + LEGEND_MARGIN, y);
        canvas_text(c, left + LEGEND_MARGIN + LEGEND_SAMPLE, y, TEXT_LEFT, TYPE_BODY, COLOUR_INK,
                    items[i].label);
    }
}

/* ---- data ---- */

void data_header(canvas *c, const char *columns)
{
    text_add(&c->data, columns);
    text_add(&c->data, "\n");
}

static void data_separate(canvas *c)
{
    text_add(&c->data, c->row ? "," : "");
    c->row = true;
}

void data_number(canvas *c, double value)
{
    data_separate(c);
    csv_number(&c->data, value);
}

void data_count(canvas *c, int64_t value)
{
    data_number(c, value == QKS_BLANK ? NAN : (double)value);
}

void data_text(canvas *c, const char *value)
{
    data_separate(c);
    csv_string(&c->data, value ? value : "");
}

void data_end(canvas *c)
{
    c->row = false;
    text_add(&c->data, "\n");
}
