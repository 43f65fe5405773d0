# SPDX-License-Identifier: MIT
# The same text with PyTorch, with keys and values that are kept: pytorch.py <f32 or bf16> <threads> prints tokens a
# second of 128 tokens behind a prompt of 32, and milliseconds of the prompt.
import math, sys, time
import torch
from torch.nn import functional as F

dtype = torch.bfloat16 if sys.argv[1] == "bf16" else torch.float32
torch.set_num_threads(int(sys.argv[2]))
torch.manual_seed(1)
layers, heads, width, vocabulary, positions = 12, 12, 768, 50257, 1024


def linear(outputs, inputs):
    return torch.nn.Linear(inputs, outputs).to(dtype)


def norm():
    return torch.nn.LayerNorm(width).to(dtype)


tokens = (0.02 * torch.randn(vocabulary, width)).to(dtype)
places = (0.02 * torch.randn(positions, width)).to(dtype)
blocks = [(norm(), linear(3 * width, width), linear(width, width), norm(), linear(4 * width, width),
           linear(width, 4 * width)) for _ in range(layers)]
last = norm()
cache = [torch.zeros(2, heads, positions, width // heads, dtype=dtype) for _ in range(layers)]


@torch.inference_mode()
def logits(ids, at):
    n = len(ids)
    x = tokens[ids] + places[at : at + n]
    future = torch.triu(torch.ones(n, at + n, dtype=torch.bool), 1 + at)
    for (norm1, qkv, project, norm2, up, down), kept in zip(blocks, cache):
        q, k, v = (y.view(n, heads, -1).transpose(0, 1) for y in qkv(norm1(x)).split(width, 1))
        kept[0, :, at : at + n], kept[1, :, at : at + n] = k, v
        w = q @ kept[0, :, : at + n].transpose(1, 2) / math.sqrt(width // heads)
        w = w.masked_fill(future, float("-inf")).softmax(-1)
        x = x + project((w @ kept[1, :, : at + n]).transpose(0, 1).reshape(n, width))
        x = x + down(F.gelu(up(norm2(x)), approximate="tanh"))
    return F.linear(last(x[-1:]), tokens)


prompt = [(i * 7919 + 17) % vocabulary for i in range(32)]
logits(prompt, 0)  # takes memory into use
start = time.perf_counter()
token = int(logits(prompt, 0).argmax())
first = time.perf_counter()
for step in range(128):
    token = int(logits([token], 32 + step).argmax())
print(f"{128 / (time.perf_counter() - first):.2f} {1e3 * (first - start):.1f}")
