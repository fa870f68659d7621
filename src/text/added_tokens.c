/* added_tokens.c: leftmost-longest matching, and what a token's flags make of a match. */
#include "text/added_tokens.h"

#include "text/unicode.h"

#include <stdlib.h>

/* ---- the tree ---- */
static qks_status new_node(token_tree *t, qks_error *error)
{
    if (t->tokens.length >= UINT32_MAX)
        return qks_fail(error, QKS_INVALID, "the added tokens are too long");
    return array_push(&t->tokens, (ptrdiff_t)-1, error);
}

qks_status token_tree_add(token_tree *t, const char *bytes, size_t length, size_t index,
                          qks_error *error)
{
    uint32_t node = 0;
    qks_status status = t->tokens.length == 0 ? new_node(t, error) : QKS_OK;
    for (size_t i = 0; status == QKS_OK && i < length; i++) {
        uint64_t key = key_of(node, (unsigned char)bytes[i]), next = key_find(&t->edges, key);
        if (next == NO_VALUE) {
            next = t->tokens.length;
            status = new_node(t, error);
            if (status == QKS_OK)
                status = key_put(&t->edges, key, next, error);
        }
        node = (uint32_t)next;
    }
    if (status != QKS_OK)
        return status;
    if (node == 0)
        return qks_fail(error, QKS_UNSUPPORTED, "normalizing leaves nothing of it");
    if (t->tokens.data[node] >= 0)
        return qks_fail(error, QKS_INVALID, "another added token is the same after normalizing");
    t->tokens.data[node] = (ptrdiff_t)index;
    t->begins[(unsigned char)bytes[0]] = true;
    return QKS_OK;
}

void token_tree_free(token_tree *t)
{
    key_table_free(&t->edges);
    free(t->tokens.data);
    *t = (token_tree){0};
}

/* The longest token at `at`, and where it ends; -1: none. */
static ptrdiff_t longest_at(const token_tree *t, stretch s, size_t at, size_t *end)
{
    ptrdiff_t found = -1;
    uint64_t node = 0;
    while (at < s.length) {
        node = key_find(&t->edges, key_of((uint32_t)node, (unsigned char)s.bytes[at]));
        if (node == NO_VALUE)
            break;
        at++;
        if (t->tokens.data[node] >= 0) {
            found = t->tokens.data[node];
            *end = at;
        }
    }
    return found;
}

/* ---- the flags ---- */
static bool stands_alone(stretch s, size_t start, size_t end)
{
    size_t size = 0;
    return (start == 0 || !is_word(utf8_decode_before(s.bytes, start, &size))) &&
           (end == s.length || !is_word(utf8_decode(s.bytes + end, &size)));
}

static size_t space_before(stretch s, size_t at, size_t least)
{
    size_t size = 0;
    while (at > least && is_white_space(utf8_decode_before(s.bytes, at, &size)))
        at -= size;
    return at;
}

static size_t space_behind(stretch s, size_t at)
{
    size_t size = 0;
    while (at < s.length && is_white_space(utf8_decode(s.bytes + at, &size)))
        at += size;
    return at;
}

/* `*done` is what the parts before have covered. A token that swallows white space can run into
 * the next token, which then counts all the same. */
static qks_status found_token(const added_token *token, stretch in, size_t start, size_t end,
                              size_t *done, part_visit *visit, void *context, qks_error *error)
{
    if (token->lstrip) {
        start = space_before(in, start, *done);
        start = start > *done ? start : *done;
    }
    if (token->rstrip)
        end = space_behind(in, end);
    char name[SHOWN_SIZE];
    if (start > end)
        return qks_fail(error, QKS_UNSUPPORTED,
                        "the added token '%s' lies in the white space that the token before it "
                        "swallows",
                        shown(token->content, token->length, name));
    qks_status status = QKS_OK;
    if (*done < start)
        status = visit(context, NULL, stretch_part(in, *done, start), error);
    *done = end;
    if (status == QKS_OK && start < end)
        status = visit(context, token, stretch_part(in, start, end), error);
    return status;
}

qks_status find_added_tokens(const token_tree *t, const added_list *list, stretch in,
                             part_visit *visit, void *context, qks_error *error)
{
    size_t done = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; t->tokens.length && status == QKS_OK && at < in.length;) {
        size_t end = 0;
        ptrdiff_t index = t->begins[(unsigned char)in.bytes[at]] ? longest_at(t, in, at, &end) : -1;
        if (index < 0) {
            at++;
            continue;
        }
        const added_token *token = &list->data[index];
        if (!token->single_word || stands_alone(in, at, end))
            status = found_token(token, in, at, end, &done, visit, context, error);
        at = end;
    }
    if (status == QKS_OK && done < in.length)
        status = visit(context, NULL, stretch_part(in, done, in.length), error);
    return status;
}
