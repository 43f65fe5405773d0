# SPDX-License-Identifier: MIT
# The same steps with PyTorch: pytorch.py <model> <steps> <threads> [bf16] [compile] prints the median of their
# milliseconds; with bf16 by autocast, with compile through torch.compile.
import math, sys, time
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, length, bias, gelu):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width, bias), nn.Linear(width, width, bias)
        self.up, self.down = nn.Linear(width, 4 * width, bias), nn.Linear(4 * width, width, bias)
        self.register_buffer("future", torch.triu(torch.ones(length, length, dtype=torch.bool), 1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(c, 2))
        w = (q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)).masked_fill(self.future, float("-inf")).softmax(-1)
        x = x + self.project((w @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate=self.gelu))


class Decoder(nn.Module):
    def __init__(self, vocabulary, positions, layers, heads, width, length, bias, gelu):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*(Block(width, heads, length, bias, gelu) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.blocks(self.tokens(ids) + self.positions.weight[: ids.shape[1]])
        return (self.norm(x) @ self.tokens.weight.t()).flatten(0, 1)


class Encoder(nn.Module):
    """BERT, whose head gives logits for every token."""

    def __init__(self, vocabulary, positions, layers, heads, width):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.types, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True) for _ in range(layers))
        self.words, self.words_norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, ids):
        x = self.norm(self.tokens(ids) + self.positions.weight[: ids.shape[1]] + self.types.weight[0])
        for layer in self.layers:
            x = layer(x)
        x = self.words_norm(F.gelu(self.words(x)))
        return (x @ self.tokens.weight.t() + self.bias).flatten(0, 1)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class RelativeBias(nn.Module):
    def __init__(self, heads, causal):
        super().__init__()
        self.numbers, self.causal = nn.Embedding(32, heads), causal

    def forward(self, length):
        distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        each, first = 32, 0
        if self.causal:
            away = (-distance).clamp(min=0)
        else:
            each, away = 16, distance.abs()
            first = each * (distance > 0)
        exact = each // 2
        far = exact + (torch.log(away.float().clamp(min=1) / exact) / math.log(128 / exact) * (each - exact)).long()
        bias = self.numbers(first + torch.where(away < exact, away, far.clamp(max=each - 1))).permute(2, 0, 1)
        return bias.masked_fill(distance > 0, float("-inf")) if self.causal else bias


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm = heads, RmsNorm(width)
        self.q, self.kv = nn.Linear(width, width, False), nn.Linear(width, 2 * width, False)
        self.project = nn.Linear(width, width, False)

    def forward(self, x, memory=None, bias=0):
        y = self.norm(x)
        split = lambda z: z.view(*z.shape[:2], self.heads, -1).transpose(1, 2)
        k, v = map(split, self.kv(y if memory is None else memory).chunk(2, -1))
        w = (split(self.q(y)) @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]) + bias).softmax(-1)
        return x + self.project((w @ v).transpose(1, 2).flatten(2))


class T5(nn.Module):
    def __init__(self, vocabulary, layers, heads, width):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.biases = nn.ModuleList(RelativeBias(heads, causal) for causal in (False, True))
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(2))
        forward = lambda: nn.Sequential(
            RmsNorm(width), nn.Linear(width, 4 * width, False), nn.ReLU(), nn.Linear(4 * width, width, False))
        self.encoder = nn.ModuleList(nn.ModuleList([Attention(width, heads), forward()]) for _ in range(layers))
        self.decoder = nn.ModuleList(
            nn.ModuleList([Attention(width, heads), Attention(width, heads), forward()]) for _ in range(layers))

    def forward(self, ids):
        source, target = ids
        x, y = self.tokens(source), self.tokens(target)
        bias = self.biases[0](source.shape[1])
        for attention, forward in self.encoder:
            x = attention(x, bias=bias)
            x = x + forward(x)
        x, bias = self.norms[0](x), self.biases[1](target.shape[1])
        for attention, cross, forward in self.decoder:
            y = cross(attention(y, bias=bias), x)
            y = y + forward(y)
        return (self.norms[1](y) @ self.tokens.weight.t()).flatten(0, 1)


class UNet(nn.Module):
    def __init__(self, down, up):
        super().__init__()
        self.down = nn.ModuleList(self.block(a, b) for a, b in zip([1] + down, down))
        self.larger = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in zip([down[-1]] + up, up))
        self.up = nn.ModuleList(self.block(2 * b, b) for b in up)
        self.head = nn.Conv2d(up[-1], 1, 1)

    @staticmethod
    def block(a, b):
        layers = []
        for inputs in (a, b):
            layers += [nn.Conv2d(inputs, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()]
        return nn.Sequential(*layers)

    def forward(self, x):
        skips = []
        for k, block in enumerate(self.down):
            x = block(x if k == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for larger, block, skip in zip(self.larger, self.up, skips[-2::-1]):
            x = block(torch.cat([skip, larger(x)], 1))
        return self.head(x)


model, steps, threads, ways = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
torch.set_num_threads(threads)
torch.manual_seed(1)
if model == "mnist":
    net = nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 300), nn.ReLU(), nn.Linear(300, 10))
    x, y = torch.rand(256, 784), torch.randint(10, (256,))
elif model == "unet":
    net = UNet([16, 32, 64, 128, 256], [128, 64, 32, 16])
    x, y = torch.rand(4, 1, 128, 128), torch.randint(2, (4, 1, 128, 128)).float()
elif model == "bert":
    net = Encoder(30522, 128, 4, 4, 256)
    x, y = torch.randint(30522, (8, 128)), torch.randint(30522, (8 * 128,))
    y[torch.arange(8 * 128) % 7 != 0] = -100
elif model == "t5":
    net = T5(32128, 4, 4, 256)
    x, y = (torch.randint(32128, (8, 128)), torch.randint(32128, (8, 64))), torch.randint(32128, (8 * 64,))
elif model == "char":
    net = Decoder(65, 64, 4, 4, 128, 64, False, "none")
    x, y = torch.randint(65, (12, 64)), torch.randint(65, (12 * 64,))
else:
    sequences = 16 if model == "124m-16" else 4
    net = Decoder(50257, 1024, 12, 12, 768, 64, True, "tanh")
    x, y = torch.randint(50257, (sequences, 64)), torch.randint(50257, (sequences * 64,))
loss = F.binary_cross_entropy_with_logits if model == "unet" else F.cross_entropy
adam = torch.optim.Adam(net.parameters(), 3e-4)
if "compile" in ways:
    net = torch.compile(net)
times = []
for step in range(steps + 1):
    start = time.perf_counter()
    adam.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in ways):
        error = loss(net(x), y)
    error.backward()
    adam.step()
    times.append(1e3 * (time.perf_counter() - start))
print(f"{sorted(times[1:])[steps // 2]:.3f}")
