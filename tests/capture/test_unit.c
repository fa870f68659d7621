/* The unit file: what goes in comes out, and nothing that was changed, cut or made up gets in. */
#include "base/file.h"
#include "base/hash.h"
#include "capture/unit.h"
#include "testing.h"

#include <sys/stat.h>

enum { D = 3, BUCKETS = 2, PAIRS = 4, SAMPLES = 5, PREAMBLE = 32 };

static side_id SIDES[] = {{0, 0, 'k'}, {0, 0, 'q'}, {0, 1, 'q'}, {1, 1, 'k'}, {1, 3, 'q'}};
static unit_group GROUPS[] = {{-7, 1, 100}, {4, 2, 250}, {9, 1, 60}};
static const int ROPE[] = {1, 0};

static unit_info info_of(unit_group *groups, size_t n_groups)
{
    return (unit_info){.model = "toy \"one\"\n</script>",
                       .layers = 2,
                       .q_heads = 4,
                       .kv_heads = 2,
                       .d = D,
                       .context = 1024,
                       .bucket_size = 512,
                       .n_buckets = BUCKETS,
                       .pairs = PAIRS,
                       .samples = SAMPLES,
                       .rope = ROPE,
                       .sides = SIDES,
                       .n_sides = COUNT_OF(SIDES),
                       .groups = groups,
                       .n_groups = n_groups,
                       .provenance = "{\"seed\": 0, \"text\": \"abc\"}"};
}

static unit_info whole_info(void)
{
    return info_of(GROUPS, COUNT_OF(GROUPS));
}

static side open_side(const unit_info *info, char kind)
{
    qks_error error;
    side s;
    assert_ok(side_open(&s, info->d, (int)info->n_groups, info->n_buckets,
                        kind == 'k' ? info->pairs : 0, &error),
              &error);
    assert_ok(side_sample_open(&s, info->samples, &error), &error);
    return s;
}

/* Group g of side i: g + i + 2 vectors, none alike. */
static void fill_side(const unit_info *info, size_t i, side *s)
{
    qks_error error;
    side_clear(s);
    s->window = info->sides[i].layer == 1 ? 256 : 0;
    pair_draws noted = {0};
    for (size_t g = 0; g < info->n_groups; g++) {
        uint64_t seed = (uint64_t)info->groups[g].id * 31 + i;
        size_t n = g + i + 2;
        float x[16 * D];
        int32_t t[16];
        for (size_t row = 0; row < n; row++) {
            t[row] = (int32_t)(row * 100 + g);
            for (size_t j = 0; j < D; j++)
                x[row * D + j] = (float)sin((double)(seed % 97) + (double)(row * D + j));
            side_count(s, t[row] / 512, t[row], x[row * D]);
            assert_ok(side_sample_note(s, seed, t[row], (uint32_t)row, &noted, &error), &error);
        }
        side_sample_take(s, &noted, &(moments_rows){.f32 = x, .position = t});
        assert_ok(qks_moments_add_f32(s->groups[g], n, x, t, &error), &error);
        if (s->pairs)
            assert_ok(pair_reservoir_add(&s->pairs[0], seed, (uint32_t)n, x, &error), &error);
    }
    free(noted.data);
}

static void write_unit(const char *path, const unit_info *info)
{
    qks_error error;
    unit_writer *w = NULL;
    assert_ok(unit_create(&w, path, info, &error), &error);
    for (size_t i = 0; i < info->n_sides; i++) {
        side s = open_side(info, info->sides[i].kind);
        fill_side(info, i, &s);
        assert_ok(unit_put(w, &s, &error), &error);
        side_close(&s);
    }
    assert_ok(unit_commit(w, &error), &error);
}

static void assert_same_sample(const pair_reservoir *p, const pair_reservoir *q)
{
    assert_int_equal(p->d, q->d);
    assert_int_equal(p->count, q->count);
    assert_true(p->threshold == q->threshold);
    assert_memory_equal(p->priority, q->priority, p->count * sizeof *p->priority);
    assert_memory_equal(p->difference, q->difference,
                        p->count * (size_t)p->d * sizeof *p->difference);
}

static void assert_same_side(const side *a, const side *b)
{
    double flat[2][32];
    assert_true(moments_flat_size(D) <= COUNT_OF(flat[0]));
    assert_int_equal(a->window, b->window);
    assert_int_equal(a->n_groups, b->n_groups);
    for (int g = 0; g < a->n_groups; g++) {
        moments_to_flat(a->groups[g], flat[0]);
        moments_to_flat(b->groups[g], flat[1]);
        assert_memory_equal(flat[0], flat[1], moments_flat_size(D) * sizeof(double));
    }
    assert_memory_equal(a->buckets, b->buckets, (size_t)a->n_buckets * sizeof *a->buckets);
    assert_int_equal(!a->pairs, !b->pairs);
    for (int i = 0; a->pairs && b->pairs && i < a->n_buckets; i++)
        assert_same_sample(&a->pairs[i], &b->pairs[i]);
    assert_true(a->sample.count > 1 && a->sample.threshold < 1); /* of more: it was cut */
    assert_same_sample(&a->sample, &b->sample);
}

/* ---- bytes of a file ---- */
typedef struct bytes {
    char *data;
    size_t length;
} bytes;

static bytes read_bytes(const char *path)
{
    qks_error error;
    bytes b = {0};
    assert_ok(file_get(path, 1 << 20, &b.data, &b.length, &error), &error);
    return b;
}

static void write_bytes(const char *path, const void *data, size_t length)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

/* One byte in place: a file written anew 4,000 times takes the disk seconds. */
static void write_byte(const char *path, size_t at, unsigned char byte)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

/* Open it and read every record; QKS_OK or why not. */
static qks_status read_all(const char *path, qks_error *error)
{
    unit u;
    qks_status status = unit_open(&u, path, error);
    if (status != QKS_OK)
        return status;
    static const int places[] = {0, 1, 2, 3, 4};
    assert_true(u.info.n_groups <= COUNT_OF(places));
    for (size_t i = 0; status == QKS_OK && i < u.info.n_sides; i++) {
        side s = open_side(&u.info, u.info.sides[i].kind);
        status = unit_read(&u, i, &s, places, error);
        side_close(&s);
    }
    unit_close(&u);
    return status;
}

/* The checksums alone. */
static qks_status check_all(const char *path)
{
    unit u;
    qks_status status = unit_open(&u, path, NULL);
    if (status != QKS_OK)
        return status;
    status = unit_check(&u, NULL);
    unit_close(&u);
    return status;
}

/* ---- what goes in comes out ---- */

static void test_round_trip(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    assert_true(unit_is(path));
    qks_error error;
    unit u;
    assert_ok(unit_open(&u, path, &error), &error);
    assert_string_equal(u.info.model, info.model);
    assert_string_equal(u.info.provenance, "{\"seed\":0,\"text\":\"abc\"}");
    assert_true(u.info.layers == 2 && u.info.q_heads == 4 && u.info.kv_heads == 2);
    assert_true(u.info.d == D && u.info.n_buckets == BUCKETS && u.info.pairs == PAIRS &&
                u.info.samples == SAMPLES);
    assert_true(u.info.context == 1024 && u.info.bucket_size == 512);
    assert_memory_equal(u.info.rope, ROPE, sizeof ROPE);
    assert_int_equal(u.info.n_groups, COUNT_OF(GROUPS));
    assert_memory_equal(u.info.groups, GROUPS, sizeof GROUPS);
    assert_int_equal(u.info.n_sides, COUNT_OF(SIDES));
    static const int places[] = {0, 1, 2};
    for (size_t i = 0; i < COUNT_OF(SIDES); i++) {
        assert_int_equal(unit_find(&u.info, SIDES[i]), i);
        side written = open_side(&info, SIDES[i].kind), s = open_side(&u.info, SIDES[i].kind);
        fill_side(&info, i, &written);
        assert_ok(unit_read(&u, i, &s, places, &error), &error);
        assert_same_side(&s, &written);
        side_close(&s);
        side_close(&written);
    }
    assert_int_equal(unit_find(&u.info, (side_id){1, 0, 'k'}), -1);
    assert_int_equal(unit_find(&u.info, (side_id){2, 0, 'q'}), -1);
    unit_close(&u);
}

static void test_optional_facts_left_out(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    info.rope = NULL;
    info.provenance = NULL;
    info.n_buckets = 0;
    info.pairs = info.samples = 0;
    qks_error error;
    unit_writer *w = NULL;
    assert_ok(unit_create(&w, path, &info, &error), &error);
    side s = open_side(&info, 'q');
    for (size_t i = 0; i < info.n_sides; i++)
        assert_ok(unit_put(w, &s, &error), &error);
    side_close(&s);
    assert_ok(unit_commit(w, &error), &error);
    assert_ok(read_all(path, &error), &error);
    unit u;
    assert_ok(unit_open(&u, path, &error), &error);
    assert_null(u.info.rope);
    assert_null(u.info.provenance);
    unit_close(&u);
}

static void test_same_content_same_bytes(void **state)
{
    const char *paths[] = {path_of(*state, "a.unit"), path_of(*state, "b.unit")};
    unit_info info = whole_info();
    bytes b[2];
    for (int i = 0; i < 2; i++) {
        write_unit(paths[i], &info);
        b[i] = read_bytes(paths[i]);
    }
    assert_int_equal(b[0].length, b[1].length);
    assert_memory_equal(b[0].data, b[1].data, b[0].length);
    free(b[0].data);
    free(b[1].data);
}

/* A reader that wants no pairs, or more room for them, gets what it asked for. */
static void test_other_room_for_pairs(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    qks_error error;
    unit u;
    static const int places[] = {0, 1, 2};
    assert_ok(unit_open(&u, path, &error), &error);
    side written = open_side(&info, 'k');
    fill_side(&info, 0, &written);
    static const size_t rooms[] = {0, 2, 100};
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        side s;
        assert_ok(side_open(&s, D, 3, BUCKETS, rooms[i], &error), &error);
        assert_ok(unit_read(&u, 0, &s, places, &error), &error);
        if (rooms[i])
            assert_int_equal(s.pairs[0].count, rooms[i] < PAIRS ? rooms[i] : PAIRS);
        assert_memory_equal(s.buckets, written.buckets, BUCKETS * sizeof *s.buckets);
        side_close(&s);
    }
    side_close(&written);
    unit_close(&u);
}

/* Groups 4 alone and -7, 9 together make what all three in one file are. */
static void test_parts_make_the_whole(void **state)
{
    const char *paths[] = {path_of(*state, "a.unit"), path_of(*state, "b.unit")};
    unit_group outer[] = {GROUPS[0], GROUPS[2]}, inner[] = {GROUPS[1]};
    static const int places[][2] = {{0, 2}, {1, 0}};
    unit_info all = whole_info(), parts[] = {info_of(outer, 2), info_of(inner, 1)};
    for (size_t i = 0; i < COUNT_OF(SIDES); i++) {
        qks_error error;
        char kind = SIDES[i].kind;
        side joined = open_side(&all, kind), expected = open_side(&all, kind);
        for (int p = 0; p < 2; p++) {
            write_unit(paths[p], &parts[p]);
            unit u;
            assert_ok(unit_open(&u, paths[p], &error), &error);
            assert_ok(unit_read(&u, i, &joined, places[p], &error), &error);
            side part = open_side(&parts[p], kind);
            fill_side(&parts[p], i, &part);
            for (size_t g = 0; g < parts[p].n_groups; g++)
                moments_copy(expected.groups[places[p][g]], part.groups[g]);
            for (int b = 0; b < BUCKETS; b++) {
                bucket_stat *to = &expected.buckets[b], *from = &part.buckets[b];
                to->n += from->n;
                to->sum_position += from->sum_position;
                to->sum_x0 += from->sum_x0;
                to->last_position = fmax(to->last_position, from->last_position);
                if (part.pairs)
                    pair_reservoir_join(&expected.pairs[b], &part.pairs[b]);
            }
            pair_reservoir_join(&expected.sample, &part.sample);
            expected.window = part.window;
            side_close(&part);
            unit_close(&u);
        }
        assert_same_side(&joined, &expected);
        side_close(&joined);
        side_close(&expected);
    }
}

/* ---- writing that goes wrong ---- */

static void test_unfinished_leaves_the_old_file(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes before = read_bytes(path);
    qks_error error;
    unit_writer *w = NULL;
    side s = open_side(&info, 'k'), other;
    fill_side(&info, 1, &s);

    assert_ok(unit_create(&w, path, &info, &error), &error);
    assert_ok(unit_put(w, &s, &error), &error);
    assert_fails(unit_commit(w, &error), QKS_INTERNAL, &error, "1 of a unit's 5 records");
    assert_ok(unit_create(&w, path, &info, &error), &error);
    assert_ok(side_open(&other, D, 2, BUCKETS, 0, &error), &error);
    assert_fails(unit_put(w, &other, &error), QKS_INTERNAL, &error, "other shape");
    for (size_t i = 0; i < info.n_sides; i++)
        assert_ok(unit_put(w, &s, &error), &error);
    assert_fails(unit_put(w, &s, &error), QKS_INTERNAL, &error, "other shape");
    unit_discard(w);
    unit_discard(NULL);

    bytes after = read_bytes(path);
    assert_int_equal(before.length, after.length);
    assert_memory_equal(before.data, after.data, before.length);
    arena a = {0};
    name_list names = {0};
    assert_ok(folder_list(&a, *state, &names, &error), &error);
    assert_int_equal(names.length, 1);
    free(names.data);
    arena_free(&a);
    free(before.data);
    free(after.data);
    side_close(&s);
    side_close(&other);
}

static void test_refused_to_write(void **state)
{
    qks_error error;
    unit_writer *w = NULL;
    unit_info info = whole_info();
    assert_fails(unit_create(&w, path_of(*state, "no/such/a.unit"), &info, &error), QKS_MISSING,
                 &error, "no/such");
    info.model = "not UTF-8: \xff";
    assert_fails(unit_create(&w, path_of(*state, "a.unit"), &info, &error), QKS_INVALID, &error,
                 "not UTF-8");
    assert_false(is_file(path_of(*state, "a.unit")));
}

/* ---- files that were changed ---- */

static void test_every_byte_counts(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes b = read_bytes(path);
    static const unsigned char flips[] = {0x01, 0x80};
    for (size_t at = 0; at < b.length; at++) {
        qks_error error = {QKS_OK, ""};
        unsigned char byte = (unsigned char)b.data[at];
        write_byte(path, at, byte ^ flips[at % COUNT_OF(flips)]);
        qks_status status = read_all(path, &error);
        assert_int_equal(check_all(path), status);
        write_byte(path, at, byte);
        if (status != QKS_INVALID && !(status == QKS_UNSUPPORTED && at >= 8 && at < 12))
            fail_msg("byte %zu of %zu changed: %s", at, b.length, qks_status_name(status));
        if (!strstr(error.message, path))
            fail_msg("byte %zu changed: '%s' does not name the file", at, error.message);
    }
    qks_error error;
    assert_ok(read_all(path, &error), &error);
    assert_int_equal(check_all(path), QKS_OK);
    free(b.data);
}

static void test_every_cut_is_seen(void **state)
{
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes b = read_bytes(path);
    qks_error error;
    write_bytes(path, b.data, b.length + 1); /* with file_get's final NUL */
    assert_fails(read_all(path, &error), QKS_INVALID, &error, "longer than its header says");
    for (size_t length = b.length; length-- > 0;) {
        assert_int_equal(truncate(path, (off_t)length), 0);
        assert_fails(read_all(path, &error), QKS_INVALID, &error,
                     length < PREAMBLE         ? "too short"
                     : length >= b.length - 64 ? "shorter than its header says"
                                               : path);
    }
    free(b.data);
}

static void test_other_files(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
        qks_status status;
        const char *part;
    } cases[] = {
        {0, "PK\3\4", QKS_INVALID, "does not begin as a unit file"},
        {8, "\1", QKS_UNSUPPORTED, "format version 1, this qkscope reads 2"},
        {12, "\1\2\3\4", QKS_INVALID, "another byte order"},
        {23, "\x7f", QKS_INVALID, "longer than the file"},
        {16, "\xff\xff\xff\xff", QKS_INVALID, "longer than the file"},
        {24, "\1\2\3\4\5\6\7", QKS_INVALID, "does not match its checksum"},
    };
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes b = read_bytes(path);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        char old[8];
        size_t length = strlen(cases[i].bytes);
        memcpy(old, b.data + cases[i].at, length);
        memcpy(b.data + cases[i].at, cases[i].bytes, length);
        write_bytes(path, b.data, b.length);
        assert_fails(read_all(path, &error), cases[i].status, &error, cases[i].part);
        memcpy(b.data + cases[i].at, old, length);
    }
    free(b.data);
    qks_error error;
    assert_fails(read_all(path_of(*state, "none"), &error), QKS_MISSING, &error, "none");
    assert_false(unit_is(path_of(*state, "none")));
    assert_false(unit_is(*state));
    write_bytes(path_of(*state, "text"), "QKSUNI", 6);
    assert_false(unit_is(path_of(*state, "text")));
}

/* ---- files that were made up: the checksums are right, the content is not ---- */

static void put_header(char *file, const char *header, size_t length)
{
    uint64_t size = length, sum = hash64(header, length);
    memcpy(file + 16, &size, sizeof size);
    memcpy(file + 24, &sum, sizeof sum);
    memcpy(file + PREAMBLE, header, length);
}

static void test_absurd_headers(void **state)
{
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"\"dimension\":3", "\"dimension\":0", "sizes are missing or out of range"},
        {"\"dimension\":3", "\"dimension\":4097", "sizes are missing or out of range"},
        {"\"dimension\":3", "\"dimension\":\"3\"", "sizes are missing or out of range"},
        {"\"dimension\":3", "\"dimension\":3.0", "sizes are missing or out of range"},
        {"\"dimension\":3", "\"dimension\":4096", "shorter than its header says"},
        {"\"dimension\":3", "\"dimension\":2", "longer than its header says"},
        {"\"buckets\":2", "\"buckets\":1025", "sizes are missing or out of range"},
        {"\"buckets\":2", "\"buckets\":-1", "sizes are missing or out of range"},
        {"\"pairs\":4", "\"pairs\":1048577", "sizes are missing or out of range"},
        {"\"pairs\":4", "\"pairs\":1048576", "shorter than its header says"},
        {"\"context\":1024", "\"context\":-1", "sizes are missing or out of range"},
        {"\"context\":1024", "\"c\":1", "sizes are missing or out of range"},
        {"\"shape\":[2,4,2]", "\"shape\":[0,4,2]", "shape is no model's"},
        {"\"shape\":[2,4,2]", "\"shape\":[2,4,3]", "shape is no model's"},
        {"\"shape\":[2,4,2]", "\"shape\":[2,4]", "shape is no model's"},
        {"\"shape\":[2,4,2]", "\"shape\":[2,99999999999,1]", "shape is no model's"},
        {"\"model\":", "\"name\":", "names no model"},
        {"[1,3,\"q\"]", "[2,3,\"q\"]", "layer or head that the model does not have"},
        {"[1,3,\"q\"]", "[1,4,\"q\"]", "layer or head that the model does not have"},
        {"[1,1,\"k\"]", "[1,2,\"k\"]", "layer or head that the model does not have"},
        {"[1,3,\"q\"]", "[1,3,\"v\"]", "neither queries nor keys"},
        {"[1,3,\"q\"]", "[1,1,\"k\"]", "sides are not in order"},
        {"[0,0,\"q\"]", "[0,2,\"q\"]", "sides are not in order"},
        {"[[0,0,\"k\"],[0,0,\"q\"],[0,1,\"q\"],[1,1,\"k\"],[1,3,\"q\"]]", "[]", "holds no heads"},
        {"[[-7,1,100],[4,2,250],[9,1,60]]", "[]", "no document groups"},
        {"[4,2,250]", "[-7,2,250]", "groups are not in order"},
        {"[4,2,250]", "[4,-2,250]", "lacks id, documents or tokens"},
        {"[4,2,250]", "[4,2]", "lacks id, documents or tokens"},
        {"\"rope\":[1,0]", "\"rope\":[1,0,1]", "rope layers does not fit"},
        {"\"rope\":[1,0]", "\"rope\":[1,2]", "rope layers does not fit"},
        {"\"rope\":[1,0]", "\"rope\":7", "rope layers does not fit"},
        {"\"provenance\":{", "\"provenance\":[0],\"p\":{", "provenance is no object"},
        {"\"buckets\":2", "\"buckets\":2,\"buckets\":2", "not JSON"},
        {"{\"bucket_size\"", "[\"bucket_size\"", "not JSON"},
    };
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes b = read_bytes(path);
    uint64_t length = 0;
    memcpy(&length, b.data + 16, sizeof length);
    const char *records = b.data + PREAMBLE + length;
    size_t rest = b.length - PREAMBLE - length;
    char *made = calloc(1, b.length + 256);
    assert_non_null(made);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        char header[1024];
        const char *from = memmem(b.data + PREAMBLE, length, cases[i].from, strlen(cases[i].from));
        if (!from)
            fail_msg("the header has no %s", cases[i].from);
        size_t before = (size_t)(from - b.data - PREAMBLE), used = strlen(cases[i].from);
        int n = snprintf(header, sizeof header, "%.*s%s%.*s", (int)before, b.data + PREAMBLE,
                         cases[i].to, (int)(length - before - used), from + used);
        assert_in_range(n, 1, sizeof header - 1);
        memcpy(made, b.data, PREAMBLE);
        put_header(made, header, (size_t)n);
        memcpy(made + PREAMBLE + n, records, rest);
        write_bytes(path, made, PREAMBLE + (size_t)n + rest);
        assert_fails(read_all(path, &error), QKS_INVALID, &error, cases[i].part);
    }
    free(made);
    free(b.data);
}

static void test_absurd_records(void **state)
{
    /* of the first record, keys of layer 0, head 0, in doubles: window, groups, buckets, pairs,
     * sample */
    const size_t groups = 1, buckets = groups + 3 * moments_flat_size(D);
    const size_t pairs = buckets + BUCKETS * sizeof(bucket_stat) / sizeof(double);
    const size_t sample = pairs + BUCKETS * (2 + PAIRS + (size_t)PAIRS * D / 2);
    const struct {
        size_t at;
        double value;
        const char *part;
    } cases[] = {
        {0, -1, "sliding window has no sense"},
        {0, NAN, "sliding window has no sense"},
        {groups, -2, "no count of vectors"},
        {groups, 2.5, "no count of vectors"},
        {groups + 1, NAN, "NaN or infinity"},
        {groups + moments_flat_size(D) - 1, INFINITY, "NaN or infinity"},
        {buckets, -1, "count of a bucket has no sense"},
        {buckets + 1, NAN, "count of a bucket has no sense"},
        {buckets + 3, INFINITY, "count of a bucket has no sense"},
        {pairs, 0, "sample of key pairs has no sense"},
        {pairs, 1.5, "sample of key pairs has no sense"},
        {pairs + 1, PAIRS + 1, "sample of key pairs has no sense"},
        {pairs + 1, -1, "sample of key pairs has no sense"},
        {pairs + 2, NAN, "sample of key pairs has no sense"},
        {pairs + 2, 1, "sample of key pairs has no sense"},
        {pairs + 2 + PAIRS, NAN, "sample of key pairs has no sense"},
        {sample, 0, "sample of vectors has no sense"},
        {sample + 1, SAMPLES + 1, "sample of vectors has no sense"},
        {sample + 2, 1, "sample of vectors has no sense"},
        {sample + 2 + SAMPLES, NAN, "sample of vectors has no sense"},
    };
    const char *path = path_of(*state, "a.unit");
    unit_info info = whole_info();
    write_unit(path, &info);
    bytes b = read_bytes(path);
    uint64_t length = 0;
    memcpy(&length, b.data + 16, sizeof length);
    char *record = b.data + PREAMBLE + length;
    size_t size = (sample + 2 + SAMPLES + (size_t)SAMPLES * (D + 1) / 2) * sizeof(double);
    uint64_t sum = 0;
    memcpy(&sum, record + size, sizeof sum);
    assert_true(sum == hash64(record, size)); /* the layout above is the file's */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        qks_error error;
        double old = 0;
        memcpy(&old, record + cases[i].at * sizeof old, sizeof old);
        memcpy(record + cases[i].at * sizeof old, &cases[i].value, sizeof old);
        sum = hash64(record, size);
        memcpy(record + size, &sum, sizeof sum);
        write_bytes(path, b.data, b.length);
        assert_fails(read_all(path, &error), QKS_INVALID, &error, cases[i].part);
        assert_non_null(strstr(error.message, "layer 0, k head 0"));
        memcpy(record + cases[i].at * sizeof old, &old, sizeof old);
    }
    free(b.data);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_round_trip),
        IN_SCRATCH(test_optional_facts_left_out),
        IN_SCRATCH(test_same_content_same_bytes),
        IN_SCRATCH(test_other_room_for_pairs),
        IN_SCRATCH(test_parts_make_the_whole),
        IN_SCRATCH(test_unfinished_leaves_the_old_file),
        IN_SCRATCH(test_refused_to_write),
        IN_SCRATCH(test_every_byte_counts),
        IN_SCRATCH(test_every_cut_is_seen),
        IN_SCRATCH(test_other_files),
        IN_SCRATCH(test_absurd_headers),
        IN_SCRATCH(test_absurd_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
