"""diffeo's U-Net in PyTorch, from the same description: layers, order and names are those of src/model/unet.ts."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, c, groups, heads):
        super().__init__()
        self.heads, self.norm = heads, nn.GroupNorm(groups, c)
        self.query, self.key, self.value, self.out = (nn.Linear(c, c) for _ in range(4))

    def forward(self, x):
        b, c, h, w = x.shape
        pixels = self.norm(x).flatten(2).transpose(1, 2)
        q, k, v = (f(pixels).reshape(b, h * w, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            mixed = torch.softmax((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2), -1) @ v
        return x + self.out(mixed.transpose(1, 2).reshape(b, h * w, c)).transpose(1, 2).reshape(b, c, h, w)


class Residual(nn.Module):
    def __init__(self, i, o, e, groups, heads, attends):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, i), nn.Conv2d(i, o, 3, padding=1)
        self.time = nn.Linear(e, o)
        self.norm2, self.conv2 = nn.GroupNorm(groups, o), nn.Conv2d(o, o, 3, padding=1)
        self.skip = nn.ModuleList([nn.Conv2d(i, o, 1)] if i != o else [])
        self.attention = nn.ModuleList([Attention(o, groups, heads)] if attends else [])

    def forward(self, x, e):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(e)[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        for skip in self.skip:
            x = skip(x)
        h = x + h
        for attention in self.attention:
            h = attention(h)
        return h


class UNet(nn.Module):
    def __init__(self, spec):
        super().__init__()
        channels, width, blocks = spec["channels"], spec["width"], spec["blocks"]
        levels = [int(width * m) for m in spec["multipliers"]]
        attends = [level in spec.get("attention", []) for level in range(len(levels))]
        self.width, e = width, 4 * width
        make = lambda i, o, a: Residual(i, o, e, spec["groups"], spec.get("heads", 4), a)
        self.time1, self.time2 = nn.Linear(width, e), nn.Linear(e, e)
        self.stem = nn.Conv2d(channels, width, 3, padding=1)
        self.position = nn.ParameterList([nn.Parameter(torch.zeros(width, *spec["position"]))] if "position" in spec else [])
        c, self.down, self.up = width, nn.ModuleList(), nn.ModuleList()
        for o, a in zip(levels, attends):
            self.down.append(nn.ModuleList([make(c if i == 0 else o, o, a) for i in range(blocks)]))
            c = o
        self.middle = nn.ModuleList([make(c, c, attends[-1]) for _ in range(2)])
        for o, a in zip(reversed(levels), reversed(attends)):
            self.up.append(nn.ModuleList([make((c if i == 0 else o) + o, o, a) for i in range(blocks)]))
            c = o
        self.norm, self.head = nn.GroupNorm(spec["groups"], c), nn.Conv2d(c, spec.get("outputs", channels), 3, padding=1)
        half = width // 2
        self.register_buffer("frequencies", (1000 * 10000 ** (-torch.arange(half, dtype=torch.float64) / half)).float())

    def forward(self, x, t):
        a = t[:, None] * self.frequencies
        e = F.silu(self.time2(F.silu(self.time1(torch.cat([a.sin(), a.cos()], -1)))))
        h, skips = self.stem(x), []
        for position in self.position:
            h = h + position
        for l, level in enumerate(self.down):
            if l:
                h = F.avg_pool2d(h, 2)
            for block in level:
                h = block(h, e)
                skips.append(h)
        for block in self.middle:
            h = block(h, e)
        for l, level in enumerate(self.up):
            if l:
                h = F.interpolate(h, scale_factor=2)
            for block in level:
                h = block(torch.cat([h, skips.pop()], 1), e)
        return self.head(F.silu(self.norm(h)))
