#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes golden_losses.hpp: what PyTorch makes of losses and of a convolution, for layers.cpp. PyTorch 1.13 of
# Debian made the numbers that are here:
#   tests/unit/ml/golden_losses.py > tests/unit/ml/golden_losses.hpp
import textwrap

import torch
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def show(name, x):
    numbers = ", ".join(f"{v:.9g}" for v in torch.as_tensor(x).flatten().tolist())
    kind = "i32" if torch.as_tensor(x).dtype == torch.int64 else "f64"
    print(f"inline const std::vector<{kind}> {name}{{")
    print(textwrap.fill(numbers, 105, initial_indent="    ", subsequent_indent="    ") + "};")


def show_loss(name, loss_of, x):
    x = x.clone().requires_grad_()
    loss = loss_of(x)
    loss.backward()
    show(name + "_loss", loss.detach())
    show(name + "_gradient", x.grad)


print("// SPDX-License-Identifier: MIT")
print("// Made by golden_losses.py: losses and their gradients as PyTorch " + torch.__version__ + " has them.")
print("#pragma once\n#include <vector>\n#include <wsl/core/scalar.hpp>\n\nnamespace golden_losses {\nusing wsl::f64, wsl::i32;\n")
print("// clang-format off")

# Numbers that f32 holds exactly.
logits = torch.randn(6, 5).mul(64).round().div(64)
classes = torch.tensor([3, 0, 4, -100, 2, 1])
targets = torch.rand(6, 5).mul(64).round().div(64)
mask = torch.tensor([1, 0.5, 0, 2, 1, 0.25])
show("logits", logits), show("classes", classes), show("targets", targets), show("mask", mask)

show_loss("plain", lambda x: F.cross_entropy(x, classes.clamp(min=0)), logits)
show_loss("smooth", lambda x: F.cross_entropy(x, classes, label_smoothing=0.1), logits)
z = 0.01
show_loss("z", lambda x: F.cross_entropy(x, classes.clamp(min=0), label_smoothing=0.2) + z * x.logsumexp(1).square().mean(), logits)
show_loss("binary", lambda x: F.binary_cross_entropy_with_logits(x, targets), logits)
show_loss("squared", lambda x: F.mse_loss(x, targets), logits)
weights = mask[:, None].expand(6, 5)
show_loss("masked", lambda x: (weights * (x - targets).square()).sum() / weights.sum(), logits)
show_loss("sum", lambda x: 2 * F.cross_entropy(x, classes) + 0.5 * F.mse_loss(x, targets), logits)
# Two pixels of three classes: PyTorch has the classes on axis 1, wsl on the last.
pixels = torch.randn(3, 2, 3).mul(64).round().div(64)
of_pixels = torch.tensor([[0, 2], [1, -100], [2, 2]])
show("pixels", pixels), show("of_pixels", of_pixels)
show_loss("pixel", lambda x: F.cross_entropy(x.transpose(1, 2), of_pixels), pixels)

print("// clang-format on\n}  // namespace golden_losses")
