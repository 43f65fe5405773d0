# SPDX-License-Identifier: MIT
# The same steps with PyTorch: pytorch.py <model> <steps> <threads> prints the median of their milliseconds.
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


model, steps, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(1)
if model == "mnist":
    net = nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 300), nn.ReLU(), nn.Linear(300, 10))
    x, y = torch.rand(256, 784), torch.randint(10, (256,))
elif model == "unet":
    net = UNet([16, 32, 64, 128, 256], [128, 64, 32, 16])
    x, y = torch.rand(4, 1, 128, 128), torch.randint(2, (4, 1, 128, 128)).float()
elif model == "char":
    net = Decoder(65, 64, 4, 4, 128, 64, False, "none")
    x, y = torch.randint(65, (12, 64)), torch.randint(65, (12 * 64,))
else:
    net = Decoder(50257, 1024, 12, 12, 768, 64, True, "tanh")
    x, y = torch.randint(50257, (4, 64)), torch.randint(50257, (4 * 64,))
loss = F.binary_cross_entropy_with_logits if model == "unet" else F.cross_entropy
adam = torch.optim.Adam(net.parameters(), 3e-4)
times = []
for step in range(steps + 1):
    start = time.perf_counter()
    adam.zero_grad(set_to_none=True)
    loss(net(x), y).backward()
    adam.step()
    times.append(1e3 * (time.perf_counter() - start))
print(f"{sorted(times[1:])[steps // 2]:.3f}")
