"""diffeo's transformer in PyTorch, from the same description: layers, order and names are those of src/model/transformer.ts."""
import math

import torch
from torch import nn
from torch.nn import functional as F

TIME, ROLES = 256, 6
ACTIVATIONS = {
    "relu2": lambda z: F.relu(z).square(),
    "gelu": lambda z: F.gelu(z, approximate="tanh"),
    "silu": F.silu,
}


def places(grid):
    """The coordinates of every site, [sites, axes]."""
    return torch.cartesian_prod(*[torch.arange(size) for size in grid]).reshape(-1, len(grid))


def differences(grid):
    """Which difference of places each two sites have, [sites, sites]."""
    at, index = places(grid), 0
    for axis, size in enumerate(grid):
        index = index * (2 * size - 1) + at[:, None, axis] - at[None, :, axis] + size - 1
    return index


def angles(grid, d, share):
    """The angles of every site, [sites, pairs]."""
    each = int(share * d / 2 / len(grid))
    rates = lambda size: [math.pi * (2 * size) ** (-j / (each - 1) if each > 1 else 0) for j in range(each)]
    at = places(grid).double()
    return torch.cat([at[:, axis, None] * torch.tensor(rates(size), dtype=torch.float64) for axis, size in enumerate(grid)], 1)


class Block(nn.Module):
    def __init__(self, width, heads, hidden, activation, relative):
        super().__init__()
        self.heads, self.activation = heads, ACTIVATIONS[activation]
        self.offsets = nn.ParameterList([nn.Parameter(torch.zeros(width)) for _ in range(ROLES)])
        self.relative = nn.ParameterList([nn.Parameter(torch.zeros(heads, relative))] if relative else [])
        self.query, self.key, self.value, self.out = (nn.Parameter(torch.zeros(width, width)) for _ in range(4))
        self.up, self.down = nn.Parameter(torch.zeros(hidden, width)), nn.Parameter(torch.zeros(width, hidden))

    def forward(self, h, shared, index, turn):
        b, sites, width = h.shape
        a1, b1, g1, a2, b2, g2 = ((s + o)[:, None] for s, o in zip(shared, self.offsets))
        norm = lambda x: F.layer_norm(x, (width,))
        seen = norm(h) * a1 + b1
        q, k, v = (F.linear(seen, w).view(b, sites, self.heads, -1).transpose(1, 2) for w in (self.query, self.key, self.value))
        q, k = turn(q), turn(k)
        bias = self.relative[0][:, index] if len(self.relative) else None
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(b, sites, width)
        h = h + F.linear(mixed, self.out) * g1
        return h + F.linear(self.activation(F.linear(norm(h) * a2 + b2, self.up)), self.down) * g2


class Transformer(nn.Module):
    """x [batch, channels, *grid] to [batch, outputs, *grid], as PyTorch's other networks here."""

    def __init__(self, spec):
        super().__init__()
        channels, width, grid = spec["channels"], spec["width"], spec["grid"]
        hidden, activation = spec.get("expansion", 4) * width, spec.get("activation", "relu2")
        by_axes = spec.get("positions", "sites") == "axes"
        self.grid, self.width = grid, width
        self.input = nn.Linear(channels, width)
        sizes = grid if by_axes else [math.prod(grid)]
        self.positions = nn.ParameterList([nn.Parameter(torch.zeros(width, size)) for size in sizes])
        self.time1, self.time2 = nn.Linear(TIME, width), nn.Linear(width, width)
        self.modulation = nn.ModuleList([nn.Linear(width, width) for _ in range(ROLES)])
        self.final = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        relative = math.prod(2 * size - 1 for size in grid) if spec.get("relative", True) else 0
        make = lambda: Block(width, spec["heads"], hidden, activation, relative)
        self.blocks = nn.ModuleList([make() for _ in range(spec["layers"])])
        theta = angles(grid, width // spec["heads"], spec.get("rotary", 0.5))
        self.register_buffer("cosines", theta.cos().float())
        self.register_buffer("sines", theta.sin().float())
        self.register_buffer("index", differences(grid))
        self.head = nn.Linear(width, spec.get("outputs", channels))
        half = TIME // 2
        self.register_buffer("frequencies", (1000 * 10000 ** (-torch.arange(half, dtype=torch.float64) / half)).float())

    def turn(self, x):
        """Pairs (j, j + p) of every head, turned by the site's angles."""
        p = self.cosines.shape[1]
        a, b, rest = x[..., :p], x[..., p : 2 * p], x[..., 2 * p :]
        return torch.cat([a * self.cosines - b * self.sines, a * self.sines + b * self.cosines, rest], -1)

    def place(self):
        """The positions' vectors, [sites, width]."""
        total = 0
        for axis, vectors in enumerate(self.positions):
            shape = [1] * len(self.positions)
            shape[axis] = -1
            total = total + vectors.t().reshape(*shape, self.width)
        return total.reshape(-1, self.width)

    def forward(self, x, t):
        a = t[:, None] * self.frequencies
        e = F.silu(self.time2(F.silu(self.time1(torch.cat([a.sin(), a.cos()], -1)))))
        shared = [role(e) for role in self.modulation]
        h = self.input(x.flatten(2).transpose(1, 2)) + self.place()
        for block in self.blocks:
            h = block(h, shared, self.index, self.turn)
        scale, shift = (role(e)[:, None] for role in self.final)
        out = self.head(F.layer_norm(h, (self.width,)) * scale + shift)
        return out.transpose(1, 2).reshape(len(x), -1, *self.grid)
