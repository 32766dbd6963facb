"""Leapfrog steps of three posteriors in PyTorch, float64, four chains: on every line `run NAME` takes 50 and answers with the
processor's milliseconds."""
import sys

import torch
from posteriors_tasks import answer, data_of

torch.set_num_threads(int(sys.argv[1]))
torch.set_default_dtype(torch.float64)
CHAINS, STEPS, SIZE = 4, 50, 0.01


def eight_schools():
    data = data_of("eight_schools")
    y, sigma = torch.tensor(data["y"]) * 1.0, torch.tensor(data["sigma"]) * 1.0

    def log_density(x):
        t, mu, s = x[:, :8], x[:, 8], x[:, 9]
        tau = s.exp()
        theta = mu[:, None] + tau[:, None] * t
        prior = -0.5 * (t * t).sum(-1) - 0.5 * (mu / 5) ** 2 - torch.log1p((tau / 5) ** 2) + s
        return prior - 0.5 * (((y - theta) / sigma) ** 2).sum(-1)

    return 10, log_density


def ar_k():
    data = data_of("arK")
    y, k = torch.tensor(data["y"]) * 1.0, data["K"]
    lags = torch.stack([y[k - 1 - j : len(y) - 1 - j] for j in range(k)], -1)
    seen = y[k:]

    def log_density(x):
        alpha, beta, s = x[:, 0], x[:, 1 : 1 + k], x[:, 1 + k]
        sigma = s.exp()
        residual = seen - (alpha[:, None] + beta @ lags.T)
        prior = -0.5 * (alpha / 10) ** 2 - 0.5 * ((beta / 10) ** 2).sum(-1) - torch.log1p((sigma / 2.5) ** 2) + s
        return prior - 0.5 * ((residual / sigma[:, None]) ** 2).sum(-1) - len(seen) * s

    return 2 + k, log_density


def low_dim_gauss_mix():
    y = torch.tensor(data_of("low_dim_gauss_mix")["y"]) * 1.0

    def log_density(x):
        m1, step, s, u = x[:, 0], x[:, 1], x[:, 2:4], x[:, 4]
        mu = torch.stack([m1, m1 + step.exp()], -1)
        sigma = s.exp()
        weight = torch.stack([torch.nn.functional.logsigmoid(u), torch.nn.functional.logsigmoid(-u)], -1)
        scaled = (y[None, :, None] - mu[:, None]) / sigma[:, None]
        parts = -0.5 * scaled * scaled + (weight - s)[:, None]
        prior = -0.5 * ((mu / 2) ** 2).sum(-1) - 0.5 * ((sigma / 2) ** 2).sum(-1) + 4 * weight.sum(-1)
        jacobian = step + s.sum(-1) + weight.sum(-1)
        return torch.logsumexp(parts, -1).sum(-1) + prior + jacobian

    return 5, log_density


def leapfrog(make):
    n, log_density = make()
    start, momentum = 0.1 * torch.ones(CHAINS, n), torch.ones(CHAINS, n)
    inverse = torch.ones(CHAINS, n)

    def slope_at(x):
        point = x.detach().requires_grad_()
        value = log_density(point)
        return value.detach(), torch.autograd.grad(value.sum(), point)[0]

    def steps():
        x, p = start, momentum
        _, slope = slope_at(x)
        for _ in range(STEPS):
            p = p + 0.5 * SIZE * slope
            x = x + SIZE * inverse * p
            value, slope = slope_at(x)
            p = p + 0.5 * SIZE * slope
            (0.5 * (p * inverse * p).sum(-1) - value).tolist()
        return x

    return steps


tasks = {"eight_schools": leapfrog(eight_schools), "arK": leapfrog(ar_k), "low_dim_gauss_mix": leapfrog(low_dim_gauss_mix)}
answer(f"torch {torch.__version__}", tasks)
