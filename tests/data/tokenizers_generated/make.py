#!/usr/bin/env python3
"""Writes cases.jsonl: small tokenizers, each with one part or corner that the whole tokenizers beside
this folder do not have, and the ids that the tokenizers library gives (pip install tokenizers==0.23.3).
A line is {"name", "tokenizer": tokenizer.json, "texts", "ids", "ids_no_special"}."""
import json
import pathlib
import random

from tokenizers import Tokenizer

ALPHABET = list("aabbccABC   .,;-_'!0123456789") + [
    "\t", "\n", "\r\n", "é", "e\u0301", "ß", "İ", "ﬁ", "\u212b", "中", "文", "あ", "ｱ", "한", "\u1100\u1161",
    "😀", "👩\u200d👩", "\u00a0", "\u3000", "\u200b", "\u00ad", "½", "٣", "Ⅷ", "²", "\ufeff", "▁", "Ġ", "<s>",
    "</s>", "[X]", "hello", "the", "'s", "don't", " 42", "\u0958", "Σ", "\u0323", "“", "…", "、", "$", "=", "\0"]
DRAWN = 16  # random texts per tokenizer, beside the fixed ones
FIXED = ["", " ", "  ", "hello the <s> the", "<s>the</s>", " the the", "thethe", "a<s> a", "\n\na\n", "ABC abc 123"]


def texts(draw):
    return FIXED + ["".join(draw.choices(ALPHABET, k=draw.randint(5, 40))) for _ in range(DRAWN)]


def byte_characters():
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [byte for byte in range(256) if byte not in kept]
    return [chr(byte) for byte in kept] + [chr(256 + n) for n in range(len(moved))]


def bpe(draw, tokens, **options):
    """A vocabulary of these tokens and of what random merges make of them."""
    vocabulary, merges = dict.fromkeys(tokens), []
    parts = [token for token in vocabulary if not token.startswith("<")]
    for _ in range(80):
        left, right = draw.choice(parts[-60:]), draw.choice(parts)
        if len(left + right) < 9:
            vocabulary[left + right] = None
            parts.append(left + right)
            merges.append([left, right])
    ids = {token: number for number, token in enumerate(vocabulary)}
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "ignore_merges": False, "vocab": ids, "merges": merges} | options


def characters(draw, share=0.8):
    singles = dict.fromkeys(c for entry in ALPHABET for c in entry if c != "\0")
    return ["<unk>"] + [c for c in singles if draw.random() < share]


def fallback():
    return [f"<0x{byte:02X}>" for byte in range(256)]


def added(content, number, **flags):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True} | flags


def template(*pieces):
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for number, name in enumerate(["<s>", "</s>"])}
    return {"type": "TemplateProcessing", "pair": [], "special_tokens": special, "single": [
        {"Sequence": {"id": "A", "type_id": 0}} if piece == "A" else {"SpecialToken": {"id": piece, "type_id": 0}}
        for piece in pieces]}


def split(expression, behavior, invert=False):
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": invert}


def metaspace(scheme, whole=False):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": not whole}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
FLAGS = [{"single_word": True}, {"lstrip": True}, {"rstrip": True}, {"lstrip": True, "rstrip": True},
         {"normalized": True}, {"normalized": True, "single_word": True}]

NORMALIZERS = {
    "nfkc": {"type": "NFKC"}, "nfd": {"type": "NFD"}, "nfkd": {"type": "NFKD"}, "lowercase": {"type": "Lowercase"},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": False},
    "strip-accents": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
    "replace-expression": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
    "replace-by-nothing": {"type": "Replace", "pattern": {"String": "a"}, "content": ""},
    "prepend-and-replace": {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "nmt": {"type": "Nmt"},
}
PRE_TOKENIZERS = {
    **{f"split-{behavior}{'-inverted' * invert}": split("[a-c]+|\\p{N}", behavior, invert)
       for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
       for invert in (False, True)},
    "digits": {"type": "Digits", "individual_digits": False},
    "digits-each": {"type": "Digits", "individual_digits": True},
    "metaspace-always": metaspace("always"), "metaspace-first": metaspace("first"),
    "metaspace-never": metaspace("never"), "metaspace-whole": metaspace("first", whole=True),
    "metaspace-old": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    "punctuation": {"type": "Punctuation", "behavior": "MergedWithPrevious"},
    "whitespace": {"type": "Whitespace"}, "whitespace-split": {"type": "WhitespaceSplit"},
    "bert": {"type": "BertPreTokenizer"}, "delimiter": {"type": "CharDelimiterSplit", "delimiter": "b"},
    "fixed-length": {"type": "FixedLength", "length": 3},
    "digits-then-metaspace": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True}, metaspace("first")]},
}


def recipes(draw):
    """name, parts of the tokenizer.json"""
    for name, part in NORMALIZERS.items():
        yield "normalizer-" + name, {"normalizer": part}
    for name, part in PRE_TOKENIZERS.items():
        yield "pre-" + name, {"pre_tokenizer": part}
    for name, pieces in {"both-ends": ("<s>", "A", "</s>"), "end": ("A", "</s>"), "twice": ("<s>", "<s>", "A")}.items():
        yield "template-" + name, {"post_processor": template(*pieces)}
    yield "roberta", {"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0],
                                         "trim_offsets": True, "add_prefix_space": True}}
    yield "unk", {"model": bpe(draw, characters(draw, 0.5), unk_token="<unk>")}
    yield "unk-fused", {"model": bpe(draw, characters(draw, 0.5), unk_token="<unk>", fuse_unk=True)}
    yield "byte-fallback", {"model": bpe(draw, characters(draw, 0.5) + fallback(), unk_token="<unk>",
                                         byte_fallback=True)}
    yield "byte-fallback-with-holes", {"model": bpe(draw, characters(draw, 0.5) + fallback()[:200], unk_token="<unk>",
                                                    fuse_unk=True, byte_fallback=True)}
    yield "byte-level-prefix-space", {"pre_tokenizer": BYTES | {"add_prefix_space": True, "use_regex": True},
                                      "model": bpe(draw, byte_characters())}
    yield "byte-level-normalizer", {"normalizer": {"type": "ByteLevel"}, "model": bpe(draw, byte_characters())}
    for ignore in (False, True):
        model = bpe(draw, characters(draw) + ["hello", "the", "▁the"], ignore_merges=ignore)
        yield f"ignore-merges-{ignore}", {"pre_tokenizer": metaspace("always"), "model": model}
    model = bpe(draw, characters(draw))
    yield "merges-repeated", {"model": model | {"merges": model["merges"] + model["merges"][::-3]}}
    suffixed = [c + "</w>" for c in characters(draw)]
    yield "word-suffix", {"pre_tokenizer": {"type": "Whitespace"}, "model": bpe(
        draw, characters(draw) + suffixed, end_of_word_suffix="</w>")}
    for number, flags in enumerate(FLAGS):
        yield f"added-{number}", {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": metaspace("first"),
                                  "added": [("<s>", flags), ("the", flags), ("[X]", flags)]}


def main():
    draw = random.Random(0)
    with open(pathlib.Path(__file__).with_name("cases.jsonl"), "w", encoding="utf-8") as file:
        for name, parts in recipes(draw):
            model = parts.get("model") or bpe(draw, characters(draw))
            first = len(model["vocab"])
            tokens = parts.get("added", [("<s>", {}), ("</s>", {})])
            made = {"version": "1.0", "truncation": None, "padding": None,
                    "added_tokens": [added(content, first + n, **flags) for n, (content, flags) in enumerate(tokens)],
                    "normalizer": parts.get("normalizer"), "pre_tokenizer": parts.get("pre_tokenizer"),
                    "post_processor": parts.get("post_processor"), "decoder": None, "model": model}
            tokenizer, given = Tokenizer.from_str(json.dumps(made)), texts(draw)
            json.dump({"name": name, "tokenizer": made, "texts": given,
                       "ids": [tokenizer.encode(text).ids for text in given],
                       "ids_no_special": [tokenizer.encode(text, add_special_tokens=False).ids for text in given]},
                      file, ensure_ascii=False)
            file.write("\n")


main()
