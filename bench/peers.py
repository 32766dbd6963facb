"""The same tasks in PyTorch: on every line `run NAME` runs one and answers with its milliseconds."""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)


def matmul(n):
    a, b = torch.randn(n, n), torch.randn(n, n)
    return lambda: a @ b


def third_order():
    batch, n, points, width = 200, 15, 200, 30
    layers = [(torch.randn(f, width) / math.sqrt(width), 0.3 * torch.randn(width)) for f in (n, width, width)]
    z, alpha = torch.randn(points, n), 0.1 * torch.randn(points)
    x, v = torch.randn(batch, n), torch.randint(0, 2, (batch, n)).float() * 2 - 1
    parameters = [p for layer in layers for p in layer] + [z, alpha]
    for p in parameters:
        p.requires_grad_()

    def features(h):
        for i, (w, b) in enumerate(layers):
            h = h @ w + b
            if i < 2:
                h = F.softplus(h)
        return h

    def step():
        point = x.clone().requires_grad_()
        hx, hz = features(point), features(z)
        distance = (hx * hx).sum(-1, keepdim=True) - 2 * hx @ hz.T + (hz * hz).sum(-1)
        energy = torch.exp(-0.5 * distance) @ alpha
        s = torch.autograd.grad(energy.sum(), point, create_graph=True)[0]
        sv = torch.autograd.grad((s * v).sum(), point, create_graph=True)[0]
        loss = (0.5 * (s * s).sum(-1) + (sv * v).sum(-1)).mean()
        return torch.autograd.grad(loss, parameters)

    return step


class Residual(nn.Module):
    def __init__(self, i, o, e, groups):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, i), nn.Conv2d(i, o, 3, padding=1)
        self.time = nn.Linear(e, o)
        self.norm2, self.conv2 = nn.GroupNorm(groups, o), nn.Conv2d(o, o, 3, padding=1)
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, e):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(e)[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class UNet(nn.Module):
    def __init__(self, channels=12, width=32, multipliers=(1, 2, 2), blocks=2, groups=8):
        super().__init__()
        self.width, e = width, 4 * width
        self.time1, self.time2 = nn.Linear(width, e), nn.Linear(e, e)
        self.stem = nn.Conv2d(channels, width, 3, padding=1)
        c, self.down, self.up = width, nn.ModuleList(), nn.ModuleList()
        for m in multipliers:
            level = nn.ModuleList()
            for _ in range(blocks):
                level.append(Residual(c, width * m, e, groups))
                c = width * m
            self.down.append(level)
        self.middle = nn.ModuleList([Residual(c, c, e, groups) for _ in range(2)])
        for m in reversed(multipliers):
            level = nn.ModuleList()
            for _ in range(blocks):
                level.append(Residual(c + width * m, width * m, e, groups))
                c = width * m
            self.up.append(level)
        self.norm, self.head = nn.GroupNorm(groups, c), nn.Conv2d(c, channels, 3, padding=1)

    def forward(self, x, t):
        half = self.width // 2
        f = 1000 * 10000 ** (-torch.arange(half) / half)
        a = t[:, None] * f
        e = F.silu(self.time2(F.silu(self.time1(torch.cat([a.sin(), a.cos()], -1)))))
        h, skips = self.stem(x), []
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


def unet_step():
    net = UNet()
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-4)
    x, t, noise = torch.randn(128, 12, 8, 8), torch.rand(128), torch.randn(128, 12, 8, 8)

    def step():
        optimiser.zero_grad(set_to_none=True)
        ((net(x, t) - noise) ** 2).mean().backward()
        optimiser.step()

    return step


tasks = {
    "matmul 512": matmul(512),
    "matmul 1024": matmul(1024),
    "third-order gradient": third_order(),
    "U-Net training step, 2 threads": unet_step(),
}
print(f"torch {torch.__version__.split('+')[0]} ms", flush=True)
for line in sys.stdin:
    task = tasks[line.strip()[4:]]
    start = time.perf_counter()
    task()
    print(1000 * (time.perf_counter() - start), flush=True)
