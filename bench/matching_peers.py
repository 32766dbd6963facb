"""Steps of a deep kernel exponential family in PyTorch: closed-form kernel derivatives, and nested autodiff.

On every line `run TASK N LOSS` runs a task once and answers with its milliseconds. Tasks: train, step, nested.
"""
import math
import sys
import time

import torch
from torch.nn import functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
KERNELS, WIDTH, POINTS, BATCH, ALPHA_POINTS, VALIDATION = 3, 30, 200, 200, 1000, 500


def sign(*shape):
    return torch.randint(0, 2, shape).float() * 2 - 1


def rowwise(t, w):
    """[R, B, k, a] times [R, a, c], all rows of a kernel in one product."""
    return (t.reshape(t.shape[0], -1, t.shape[-1]) @ w).reshape(w.shape[0], *t.shape[1:3], -1)


class Model:
    def __init__(self, n, loss):
        self.n, self.loss = n, loss
        draw = lambda *shape: (torch.randn(*shape) / math.sqrt(WIDTH)).requires_grad_()
        self.w1, self.b1 = draw(KERNELS, n, WIDTH), draw(KERNELS, 1, WIDTH)
        self.w2, self.b2 = draw(KERNELS, WIDTH, WIDTH), draw(KERNELS, 1, WIDTH)
        self.w3, self.skip = draw(KERNELS, WIDTH, WIDTH), draw(KERNELS, n, WIDTH)
        self.scales = torch.tensor([0.0, 0.5185, 1.0]).requires_grad_()
        self.mixture = torch.zeros(KERNELS).requires_grad_()
        self.log_lambda = torch.tensor(-2.0).requires_grad_()
        self.z = torch.randn(POINTS, n).requires_grad_()
        self.parameters = [self.w1, self.b1, self.w2, self.b2, self.w3, self.skip, self.scales, self.mixture,
                           self.log_lambda, self.z]
        self.optimiser = torch.optim.Adam(self.parameters, lr=1e-2)
        self.data, self.val = torch.randn(2000, n), torch.randn(VALIDATION, n)

    def features(self, x):
        a1 = F.softplus(x @ self.w1 + self.b1)
        a2 = F.softplus(a1 @ self.w2 + self.b2)
        return a2 @ self.w3 + x @ self.skip

    def jet(self, x, directions=None):
        """Tangents [R, B, k, width] and the sum of second derivatives [R, B, width]."""
        push = lambda w: w[:, None] if directions is None else rowwise(directions[None], w)
        z1 = x @ self.w1 + self.b1
        s1 = torch.sigmoid(z1)
        d1 = push(self.w1)
        q1 = s1 * (1 - s1) * (d1 ** 2).sum(-2)
        z2 = F.softplus(z1) @ self.w2 + self.b2
        s2 = torch.sigmoid(z2)
        d2 = rowwise(s1[:, :, None] * d1, self.w2)
        q2 = s2 * (q1 @ self.w2) + s2 * (1 - s2) * (d2 ** 2).sum(-2)
        return rowwise(s2[:, :, None] * d2, self.w3) + push(self.skip), q2 @ self.w3

    def pull(self, x, v):
        """The sum over kernels of J^T v."""
        z1 = x @ self.w1 + self.b1
        z2 = F.softplus(z1) @ self.w2 + self.b2
        inner = (torch.sigmoid(z2) * (v @ self.w3.transpose(1, 2))) @ self.w2.transpose(1, 2)
        return ((torch.sigmoid(z1) * inner) @ self.w1.transpose(1, 2) + v @ self.skip.transpose(1, 2)).sum(0)

    def pairs(self, x):
        fx, fz = self.features(x), self.features(self.z)
        scale = 10 ** self.scales
        distance = (fx ** 2).sum(-1)[:, :, None] - 2 * fx @ fz.transpose(1, 2) + (fz ** 2).sum(-1)[:, None]
        kappa = torch.softmax(self.mixture, 0)[:, None, None] * torch.exp(-distance / (2 * scale[:, None, None]))
        return fx, fz, scale[:, None, None], kappa

    def along(self, pairs, tangents):
        """delta . t for all pairs: [R, B, k, L]."""
        fx, fz, _, _ = pairs
        return (tangents * fx[:, :, None]).sum(-1)[..., None] - rowwise(tangents, fz.transpose(1, 2))

    def first(self, pairs, u):
        _, _, scale, kappa = pairs
        return -((kappa / scale)[:, :, None] * u).sum(0)

    def gradients(self, pairs, t):
        """All gradients of the kernels, [B, n, L]."""
        return self.first(pairs, self.along(pairs, t))

    def second(self, pairs, u, tangents, bend):
        fx, fz, scale, kappa = pairs
        delta = (bend * fx).sum(-1)[..., None] - bend @ fz.transpose(1, 2)
        return (kappa / scale * ((u ** 2).sum(2) / scale - (tangents ** 2).sum((-2, -1))[..., None] - delta)).sum(0)

    def slices(self, x):
        """w, and the drift and direction of the metric where the loss has them."""
        n, b = self.n, x.shape[0]
        if self.loss.startswith("ssm"):
            return sign(b, n), None, None
        v = 1 / math.sqrt(n)
        if self.loss == "gssm-vr":
            norm = x.norm(dim=-1, keepdim=True)
            w = math.sqrt(v) * (norm * torch.randn(b, n) + torch.randn(b, 1) * x) + sign(b, n)
            return w, (4 + n - 1) * v * x, math.sqrt(v) * x
        a = torch.randn(b, n, n) * math.sqrt(v)
        a = torch.triu(a, 1)
        a = a + a.transpose(1, 2) + torch.diag_embed(torch.randn(b, n) * math.sqrt(2 * v))
        w = torch.einsum("bij,bj->bi", a, x) + sign(b, n)
        trace = a.diagonal(dim1=1, dim2=2).sum(-1, keepdim=True)
        return w, torch.einsum("bij,bj->bi", a, w) + trace * w, None

    def equations(self, x, w, drift, extra):
        pairs = self.pairs(x)
        base = -x / 4
        if self.loss == "sm":
            t, bend = self.jet(x)
            u = self.along(pairs, t)
            g = self.first(pairs, u)
            b = (g * base[..., None]).sum(1) + self.second(pairs, u, t, bend)
            rows = g.reshape(-1, POINTS)
        else:
            tw, bend = self.jet(x, w[:, None])
            uw = self.along(pairs, tw)
            curved = self.second(pairs, uw, tw, bend)
            if self.loss in ("ssm", "gssm"):
                rows = self.first(pairs, uw)[:, 0]
                b = rows * (w * base).sum(-1, keepdim=True) + curved
                if drift is not None:
                    td, _ = self.jet(x, drift[:, None])
                    b = b + self.first(pairs, self.along(pairs, td))[:, 0]
            else:
                t, _ = self.jet(x)
                g = self.gradients(pairs, t)
                if self.loss == "ssm-vr":
                    b = (g * base[..., None]).sum(1) + curved
                    rows = g.reshape(-1, POINTS)
                else:
                    m = ((extra ** 2).sum(-1) + 1)[:, None]
                    gx = (g * extra[..., None]).sum(1)
                    pull = m * base + extra * (extra * base).sum(-1, keepdim=True) + drift
                    b = (g * pull[..., None]).sum(1) + curved
                    rows = torch.cat([(g * m[..., None].sqrt()).reshape(-1, POINTS), gx])
        count = x.shape[0]
        return rows.T @ rows / count, b.mean(0)

    def alpha(self, x, draws):
        g, b = self.equations(x, *draws)
        return -torch.linalg.solve(g + 10 ** self.log_lambda * torch.eye(POINTS), b)

    def value(self, x, alpha, w, drift, extra):
        pairs = self.pairs(x)
        fx, fz, scale, kappa = pairs
        weights = kappa / scale * alpha
        s = -self.pull(x, weights.sum(-1)[..., None] * fx - weights @ fz) - x / 4
        if self.loss == "sm":
            t, bend = self.jet(x)
            return (0.5 * (s ** 2).sum(-1) + self.second(pairs, self.along(pairs, t), t, bend) @ alpha - self.n / 4).mean()
        tw, bw = self.jet(x, w[:, None])
        curved = self.second(pairs, self.along(pairs, tw), tw, bw) @ alpha - (w ** 2).sum(-1) / 4
        if self.loss == "ssm-vr":
            return (0.5 * (s ** 2).sum(-1) + curved).mean()
        if self.loss == "gssm-vr":
            m = (extra ** 2).sum(-1) + 1
            return (0.5 * (m * (s ** 2).sum(-1) + (s * extra).sum(-1) ** 2) + (drift * s).sum(-1) + curved).mean()
        plain = 0.5 * (s * w).sum(-1) ** 2 + curved
        return (plain + (drift * s).sum(-1) if drift is not None else plain).mean()

    def draws(self, x):
        return (None, None, None) if self.loss == "sm" else self.slices(x)

    def update(self, loss):
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 100)
        self.optimiser.step()

    def train(self):
        x = self.data[torch.randperm(2000)[:BATCH]]
        first, second = x[: BATCH // 2], x[BATCH // 2:]
        self.update(self.value(second, self.alpha(first, self.draws(first)), *self.draws(second)))

    def validate(self):
        with torch.no_grad():
            x = self.data[torch.randperm(2000)[:ALPHA_POINTS]]
            self.value(self.val, self.alpha(x, self.draws(x)), *self.draws(self.val))

    def step(self):
        self.train()
        self.validate()

    # The same training step with derivatives by autograd alone, one inducing point after another.
    def kernel(self, x):
        return self.pairs(x)[3].sum(0)

    def nested(self):
        x = self.data[torch.randperm(2000)[:BATCH]]
        first, second = x[: BATCH // 2].clone().requires_grad_(), x[BATCH // 2:].clone().requires_grad_()
        grad = lambda y, p: torch.autograd.grad(y, p, create_graph=True)[0]
        units = torch.eye(self.n)
        w, drift, extra = self.draws(first)
        k = self.kernel(first)
        gs, curved = [], []
        for l in range(POINTS):
            g = grad(k[:, l].sum(), first)
            gs.append(g)
            if self.loss == "sm":
                curved.append(sum((grad((g @ e).sum(), first) @ e) for e in units))
            else:
                curved.append((grad((g * w).sum(), first) * w).sum(-1))
        g, c = torch.stack(gs, -1), torch.stack(curved, -1)
        if self.loss == "gssm-vr":
            m = ((extra ** 2).sum(-1) + 1)[:, None]
            pull = m * -first / 4 + extra * (extra * -first / 4).sum(-1, keepdim=True) + drift
            rows = torch.cat([(g * m[..., None].sqrt()).reshape(-1, POINTS), (g * extra[..., None]).sum(1)])
        else:
            pull, rows = -first / 4, g.reshape(-1, POINTS)
        b = ((g * pull[..., None]).sum(1) + c).mean(0)
        alpha = -torch.linalg.solve(rows.T @ rows / len(first) + 10 ** self.log_lambda * torch.eye(POINTS), b)
        s = grad((self.kernel(second) @ alpha).sum(), second) - second / 4
        w, drift, extra = self.draws(second)
        if self.loss == "sm":
            loss = 0.5 * (s ** 2).sum(-1) + sum(grad((s @ e).sum(), second) @ e for e in units)
        else:
            loss = (grad((s * w).sum(), second) * w).sum(-1)
            if self.loss == "ssm-vr":
                loss = loss + 0.5 * (s ** 2).sum(-1)
            else:
                m = (extra ** 2).sum(-1) + 1
                loss = loss + 0.5 * (m * (s ** 2).sum(-1) + (s * extra).sum(-1) ** 2) + (drift * s).sum(-1)
        self.update(loss.mean())


models = {}
print(f"torch {torch.__version__.split('+')[0]} ms", flush=True)
for line in sys.stdin:
    _, task, n, loss = line.split()
    if (n, loss) not in models:
        models = {(n, loss): Model(int(n), loss)}
    run = getattr(models[n, loss], task)
    start = time.perf_counter()
    run()
    print(1000 * (time.perf_counter() - start), flush=True)
