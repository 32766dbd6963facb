"""The network of a table in PyTorch, with the same loss, optimiser and average of weights, and a step of its sampler.

Arguments: threads, columns, width, blocks, and the clock, `wall` or `cpu`. On every line `run TASK` it runs a task once and
answers with milliseconds:
`train ROWS`, a step of training on so many rows out of 50,000, from drawing the batch to the averaged weights, and `sample
ROWS`, one exponential step of the probability flow for so many rows.
"""
import math
import sys
import time

import torch
from torch.nn import functional as F

THREADS, N, WIDTH, BLOCKS = (int(word) for word in sys.argv[1:5])
CLOCK = {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[5]]
torch.set_num_threads(THREADS)
torch.manual_seed(0)
LEVELS, FREQUENCIES = 64, 32


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("f", torch.exp(torch.linspace(math.log(0.05), math.log(4), FREQUENCIES)))
        self.time = torch.nn.Linear(2 * FREQUENCIES, WIDTH)
        self.input = torch.nn.Linear(N, WIDTH)
        linear = lambda bias: torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH, bias=bias) for _ in range(BLOCKS))
        self.scale, self.shift, self.first, self.second = linear(False), linear(False), linear(True), linear(True)
        self.output = torch.nn.Linear(WIDTH, N)

    def forward(self, x, level):
        angle = level[..., None] * self.f
        e = F.silu(self.time(torch.cat([angle.sin(), angle.cos()], -1)))
        h = self.input(x)
        for k in range(BLOCKS):
            seen = F.layer_norm(h, (WIDTH,)) * (1 + self.scale[k](e)) + self.shift[k](e)
            h = h + self.second[k](F.silu(self.first[k](seen)))
        return self.output(F.silu(F.layer_norm(h, (WIDTH,))))


network = Residual()
parameters = list(network.parameters())
average = [p.detach().clone() for p in parameters]
optimiser = torch.optim.Adam(parameters, lr=1e-3, betas=(0.9, 0.99), fused=True)
points = torch.randn(50_000, N)


def train(rows):
    a_level = rows // LEVELS
    x0 = points[torch.randint(0, len(points), (rows,))].view(LEVELS, a_level, N)
    half = torch.randn(LEVELS, a_level // 2, N)
    noise = torch.cat([half, -half], 1)
    u = (torch.arange(LEVELS) + torch.rand(LEVELS)) / LEVELS
    level = (1.5 + 3 * torch.special.ndtri(u)).clamp(-10, 10)[:, None]
    m, s = torch.sigmoid(level).sqrt()[..., None], torch.sigmoid(-level).sqrt()[..., None]
    loss = F.mse_loss(network(m * x0 + s * noise, level), m * noise - s * x0)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimiser.step()
    with torch.no_grad():
        torch._foreach_lerp_(average, parameters, 5e-4)
    return loss.item()


state = {}


def sample(rows):
    """x ← a x + b (1.5 x̂₀ − .5 the one before), as the exponential steps of order two do."""
    x, before = state.setdefault(rows, [torch.randn(rows, N), torch.zeros(rows, N)])
    with torch.inference_mode():
        v = network(x, torch.tensor([1.0]))
        found = 0.9 * x - 0.44 * v
        state[rows] = [0.97 * x + 0.02 * (1.5 * found - 0.5 * before), found]


print(f"PyTorch {torch.__version__}", flush=True)
for line in sys.stdin:
    _, task, rows = line.split()
    start = CLOCK()
    {"train": train, "sample": sample}[task](int(rows))
    print((CLOCK() - start) * 1000, flush=True)
