"""Shapes of models, and what a pass through one costs."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    d: int
    theta: float
    vocabulary: int = 8192  # looked up, never multiplied with: its size decides no speed

    def cut(self, layers):
        return dataclasses.replace(self, layers=layers)

    @property
    def q(self):
        return self.heads * self.d

    @property
    def k(self):
        return self.kv_heads * self.d

    def flops(self, tokens, last="queries and keys"):
        """Useful operations of a pass: products with weights, and scores and sums of the keys that
        each query sees. Of the last layer qkscope computes no more than `queries and keys`, llama.cpp
        its `attention` (and the ffn of the last token), transformers the `whole`."""
        attention = 4 * self.q * tokens * (tokens + 1) // 2
        around = 2 * tokens * 2 * self.hidden * (self.q + self.k)
        ffn = 2 * tokens * 3 * self.hidden * self.intermediate
        ends = {"queries and keys": around // 2, "attention": around + attention,
                "whole": around + attention + ffn}
        return (self.layers - 1) * ends["whole"] + ends[last]
