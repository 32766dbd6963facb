"""The same tasks in PyTorch: on every line `run NAME` runs one and answers with its milliseconds."""
import math
import sys
import time

import torch
from torch.nn import functional as F
from torch_unet import UNet

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


def unet_step():
    net = UNet({"channels": 12, "width": 32, "multipliers": [1, 2, 2], "blocks": 2, "groups": 8})
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
