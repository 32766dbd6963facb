"""
Trains the exchangeable network of 9×9 Sudokus in PyTorch, for a GPU on which ONNX Runtime is slow:

  python3 bench/sudoku/train_torch.py --folder FOLDER --out OUT --seconds 430

FOLDER is what `exchange.ts pack` writes: grids, weights to go on from, times of the sampler, puzzles. OUT gets
the averaged weights (`weights.f32`, for `exchange.ts import`), a checkpoint that `--resume` reads, and the figures. It is the network of
`packages/diffeo/src/model/exchangeable.ts` and the loss of `categorical/denoiser.ts`; `exchange.ts` compares the two.

Layers are put between those of the weights to go on from. A new layer has zero as its last matrix, so that the deeper
network begins as the same function.
"""

import argparse
import json
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--folder", required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--seconds", type=float, default=430)
parser.add_argument("--layers", type=int, default=24)
parser.add_argument("--width", type=int, default=48)
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--rate", type=float, default=0.002)
parser.add_argument("--muon", type=float, default=0.0, help="rate of Muon for the matrices of layers; 0 is Adam")
parser.add_argument("--focus", default="0.2,0.5,0.85")
parser.add_argument("--shown", type=float, default=0.4)
parser.add_argument("--ema", type=float, default=0.999)
parser.add_argument("--steps", type=int, default=0, help="ends after so many steps, whatever the time; for trials")
parser.add_argument("--samples", type=int, default=2000)
parser.add_argument("--tries", type=int, default=4)
parser.add_argument("--fresh", action="store_true")
parser.add_argument("--resume")
parser.add_argument("--eager", action="store_true")
parser.add_argument("--evaluate", action="store_true", help="only measures the given weights")
parser.add_argument("--compare", action="store_true", help="writes what the given weights answer, for exchange.ts")
args = parser.parse_args()
began = time.time()
cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"
torch.manual_seed(int(time.time()) if args.resume else 1)
torch.backends.cuda.matmul.allow_tf32 = False
os.makedirs(args.out, exist_ok=True)
log_file = open(os.path.join(args.out, "log.txt"), "a")


def log(*words):
    print(*words, flush=True)
    print(*words, file=log_file, flush=True)


def path(name):
    return os.path.join(args.folder, name)


about = json.load(open(path("about.json")))
SITES, K = 81, 9
codes = torch.tensor(about["codes"], dtype=torch.float32, device=device)  # [9, 8]


def read_grids():
    """[n, 81] digits; a file holds 64 of each, two per byte, since rows and columns give the others."""
    packed = torch.from_numpy(np.fromfile(path("grids.bin"), dtype=np.uint8).reshape(-1, 32))
    eight = torch.stack([packed & 15, packed >> 4], -1).reshape(-1, 8, 8)
    last = 36 - eight.sum(-1, dtype=torch.int64, keepdim=True).to(torch.uint8)
    rows = torch.cat([eight, last], -1)
    below = (36 - rows.sum(1, dtype=torch.int64, keepdim=True)).to(torch.uint8)
    return torch.cat([rows, below], 1).reshape(-1, SITES).to(device)


site = torch.arange(SITES)
kinds = [site // 9, site % 9, site // 27 * 3 + site % 9 // 3]
incidence = torch.stack([(kind == g).float() for kind in kinds for g in range(9)]).to(device) / 3  # [27, 81]


def layer(h, up_w, up_b, heard, down):
    b, (width, inner) = h.shape[0], up_w.shape
    n = F.layer_norm(h, (width,), eps=1e-5)
    u = F.linear(n, up_w.t(), up_b)
    own = (u.sum(2) * (1 / 3)) @ heard[0] * (1 / 3)  # [b, 81, inner]
    sums = torch.matmul(incidence, u.reshape(b, SITES, K * inner)).reshape(b, 3, 9 * K, inner)
    said = torch.matmul(sums, heard[1:]).reshape(b, 27, K * inner)
    back = torch.matmul(incidence.t(), said).reshape(b, SITES, K, inner)
    z = F.relu(u + back + own.unsqueeze(2))
    return h + ((z * z) @ down).float()


# One graph for all layers, so that compilation is short.
compiled_layer = layer if args.eager or not cuda else torch.compile(layer)


class Network(torch.nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        inner = 2 * width

        def normal(*shape, fan, gain=1.0):
            return torch.nn.Parameter(torch.randn(*shape) * math.sqrt(gain / fan))

        self.input_w = normal(2, width, fan=2)
        self.input_b = torch.nn.Parameter(torch.zeros(width))
        self.up_w = normal(layers, width, inner, fan=width)
        self.up_b = torch.nn.Parameter(torch.zeros(layers, inner))
        self.heard = normal(layers, 4, inner, inner, fan=inner)
        self.down = normal(layers, inner, width, fan=inner, gain=0.1)
        self.head = torch.nn.Parameter(torch.zeros(width, 1))
        self.width, self.inner, self.layers = width, inner, layers


    def forward(self, seen, step=layer):
        """Log-likelihoods [b, 81, 9] to the logits that the other sites add."""
        h = torch.stack([seen.exp(), seen * 0.2], -1) @ self.input_w + self.input_b
        h = h.float()
        for own in zip(*(p.unbind(0) for p in (self.up_w, self.up_b, self.heard, self.down))):
            h = step(h, *own)
        return (F.layer_norm(h, (self.width,), eps=1e-5).float() @ self.head).squeeze(-1)


def flat_of(values, layers):
    """The parameters in the order of diffeo's tree."""
    parts = [values["input_w"], values["input_b"]]
    for l in range(layers):
        parts += [values["up_w"][l], values["up_b"][l], *values["heard"][l], values["down"][l]]
    parts += [values["head"]]
    return torch.cat([p.detach().float().cpu().reshape(-1) for p in parts]).numpy()


def load_flat(net, flat, layers):
    """Weights of so many layers, spread among those of the network; the new ones add nothing."""
    flat, at = torch.from_numpy(flat), 0

    def take(like):
        nonlocal at
        at += like.numel()
        return flat[at - like.numel() : at].reshape(like.shape)

    places = [int((l + 1) * net.layers / layers) - 1 for l in range(layers)]
    with torch.no_grad():
        net.down.zero_()
        net.input_w.copy_(take(net.input_w))
        net.input_b.copy_(take(net.input_b))
        for l in places:
            net.up_w[l].copy_(take(net.up_w[l]))
            net.up_b[l].copy_(take(net.up_b[l]))
            for g in range(4):
                net.heard[l, g].copy_(take(net.heard[l, g]))
            net.down[l].copy_(take(net.down[l]))
        net.head.copy_(take(net.head))
    assert at == flat.numel()


# The process: VP with a rate from 0.1 to 20; log-likelihoods of classes.
def levels(t):
    integral = 0.1 * t + 0.5 * 19.9 * t * t
    return torch.exp(-0.5 * integral), torch.sqrt(-torch.expm1(-integral))


half_norms = 0.5 * (codes * codes).sum(-1)


def likelihoods(x, m, sigma):
    scores = (x @ codes.t() - m * half_norms) * (m / sigma**2)
    return F.log_softmax(scores, -1).clamp_min(-20)


def with_known(seen, digits, mask):
    own = (F.one_hot(digits, K).float() - 1) * 20
    return torch.where(mask.unsqueeze(-1), own, seen)


lo, hi, share = (float(v) for v in args.focus.split(","))
GOLDEN = (math.sqrt(5) - 1) / 2


def make_batch(grids, size):
    digits = grids[torch.randint(len(grids), (size,), device=device)].long()
    u = (torch.arange(size, device=device) * GOLDEN + torch.rand(1, device=device)) % 1
    t = torch.where(u < share, lo + (hi - lo) * u / share, 1e-3 + (1 - 1e-3) * (u - share) / (1 - share))
    m, sigma = (v[:, None, None] for v in levels(t))
    x = m * codes[digits] + sigma * torch.randn(size, SITES, 8, device=device)
    chance = torch.rand(size, 1, device=device) * (torch.rand(size, 1, device=device) < args.shown)
    mask = torch.rand(size, SITES, device=device) < chance
    return with_known(likelihoods(x, m, sigma), digits, mask), digits, t, mask


def cross_entropy(net, seen, digits):
    with torch.autocast(device, dtype=torch.bfloat16, enabled=cuda):
        out = net(seen, train_layer)
    return F.cross_entropy((out + seen).reshape(-1, K), digits.reshape(-1), reduction="none").reshape(digits.shape)


@torch.no_grad()
def sample(net, count, evaluations, digits=None, mask=None, batch=1000):
    """SDE-DPM-Solver++(2M) at the times of about.json, ended at the mean."""
    times = about["times"][str(evaluations)] if digits is None else about["puzzleTimes"][str(evaluations)]
    t = torch.tensor(times, dtype=torch.float64)
    integral = 0.1 * t + 0.5 * 19.9 * t * t
    ms, sigmas = torch.exp(-0.5 * integral), torch.sqrt(-torch.expm1(-integral))
    lam = torch.log(ms / sigmas)
    out = []
    for first in range(0, count, batch):
        n = min(batch, count - first)
        known = None if digits is None else (digits[first : first + n], mask[first : first + n])
        x = torch.randn(n, SITES, 8, device=device)
        last = None
        for i in range(len(times)):
            m, s = ms[i].item(), sigmas[i].item()
            seen = likelihoods(x, m, s)
            if known:
                seen = with_known(seen, *known)
            p = F.softmax(net(seen) + seen, -1)
            mean = p @ codes
            if i == len(times) - 1:
                break
            h = (lam[i + 1] - lam[i]).item()
            d = mean if last is None else mean + 0.5 * h / (lam[i] - lam[i - 1]).item() * (mean - last)
            last = mean
            s1, m1 = sigmas[i + 1].item(), ms[i + 1].item()
            x = s1 / s * math.exp(-h) * x - m1 * math.expm1(-2 * h) * d
            x = x + s1 * math.sqrt(-math.expm1(-2 * h)) * torch.randn_like(x)
        out.append(p.argmax(-1))
    return torch.cat(out)


def valid(grids):
    hot = F.one_hot(grids, K).float()
    counts = torch.matmul((incidence > 0).float(), hot)
    return (counts == 1).all(-1).all(-1)


def spread(p, n):
    return f"{p:.4f} ± {math.sqrt(p * (1 - p) / n):.4f}"


grids = read_grids()
assert bool(valid(grids[:1000].long()).all())
net = Network(args.layers, args.width).to(device)
if not args.fresh:
    load_flat(net, np.fromfile(path("weights.f32"), dtype=np.float32), about["layers"])

if args.compare:
    case = json.load(open(path("case.json")))
    seen = torch.tensor(case["seen"], device=device)
    with torch.no_grad():
        gap = (net(seen) - torch.tensor(case["logits"], device=device)).abs().max().item()
    log(f"logits differ by at most {gap:.2e}")
    raise SystemExit(0 if gap < 1e-3 else 1)

matrices = [net.up_w, net.heard, net.down] if args.muon > 0 else []
others = [p for p in net.parameters() if not any(p is q for q in matrices)]
adam = torch.optim.Adam(others, lr=args.rate, betas=(0.9, 0.99), **({"fused": True} if cuda else {}))
momenta = [torch.zeros_like(p) for p in matrices]


def orthogonal(g):
    """Newton–Schulz: the nearest matrix with equal singular values, of each matrix of a stack."""
    tall = g.shape[-2] > g.shape[-1]
    x = g.mT if tall else g
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


def muon_step(rate):
    with torch.no_grad():
        for p, v in zip(matrices, momenta):
            v.lerp_(p.grad, 0.05)
            step = orthogonal(p.grad.lerp(v, 0.95))
            p.mul_(1 - rate * 0.05).add_(step, alpha=-rate * math.sqrt(max(1, p.shape[-1] / p.shape[-2])))


average = {name: p.detach().clone() for name, p in net.named_parameters()}
step, base = 0, 0.0
if args.resume:
    held = torch.load(args.resume, map_location=device)
    net.load_state_dict(held["net"])
    adam.load_state_dict(held["adam"])
    step, base = held["step"], 0.5
    average = held["average"]
    for v, kept in zip(momenta, held["momenta"]):
        v.copy_(kept)


def averaged():
    copy = Network(args.layers, args.width).to(device)
    copy.load_state_dict(average)
    return copy


def report(net, when, samples, all_evaluations=(50, 100), puzzles=False):
    start = time.time()
    for evaluations in all_evaluations:
        drawn = sample(net, samples, evaluations)
        good = valid(drawn)
        distinct = len(torch.unique(drawn[good], dim=0)) if good.any() else 0
        log(f"{when}: {evaluations} evaluations, w = 1: valid {spread(good.float().mean().item(), samples)} of {samples}, {distinct} distinct")
    if puzzles and os.path.exists(path("puzzles.txt")):
        lines = [line.strip() for line in open(path("puzzles.txt")) if len(line.strip()) == SITES]
        given = torch.tensor([[0 if c == "." else int(c) - 1 for c in line] for line in lines], device=device)
        mask = torch.tensor([[c != "." for c in line] for line in lines], device=device)
        solved = torch.stack([valid(sample(net, len(lines), 50, given, mask)) for _ in range(args.tries)])
        clues = mask.sum(-1)
        for n in sorted(set(clues.tolist())):
            own = solved[:, clues == n].float()
            log(f"  {n} clues: one sample {spread(own.mean().item(), own.numel())}; one of {args.tries} {spread(own.max(0).values.mean().item(), own.shape[1])}")
    log(f"  evaluation took {time.time() - start:.1f} s")


train_layer = compiled_layer


if args.evaluate:
    report(net, "given", args.samples, puzzles=True)
    raise SystemExit


def forward_backward():
    seen, digits, _, _ = make_batch(grids, args.batch)
    loss = cross_entropy(net, seen, digits).mean()
    loss.backward()
    return loss.detach()


try:
    forward_backward()
except Exception as error:  # a compiler that fails costs speed, not the run
    log(f"compilation failed ({type(error).__name__}: {str(error)[:300]}); going on without")
    train_layer = layer
net.zero_grad(set_to_none=True)
if cuda:
    torch.cuda.synchronize()
log(f"{sum(p.numel() for p in net.parameters())} parameters, {len(grids)} grids, ready after {time.time() - began:.0f} s")
if not args.fresh and args.samples > 0 and not args.resume:
    report(net, "before", min(args.samples, 1000), (50,))

# Progress goes from `base` to 1 by time, or by steps.
started, losses, first = time.time(), [], step
total = args.seconds - (started - began)
while True:
    elapsed = time.time() - started
    progress = base + (1 - base) * ((step - first) / args.steps if args.steps else elapsed / total)
    if progress >= 1:
        break
    warm = min(1.0, (step - first + 1) / 200)
    fall = warm * min(1.0, (1 - progress) / 0.8)  # constant for a fifth, then falling to nothing
    for group in adam.param_groups:
        group["lr"] = args.rate * fall
    losses.append(forward_backward())
    norm = torch.nn.utils.clip_grad_norm_(others, 1.0)
    adam.step()
    if matrices:
        muon_step(args.muon * fall)
    net.zero_grad(set_to_none=True)
    step += 1
    # An average over the last steps, as short as the run at first.
    decay = min(args.ema, (step + 1) / (step + 10))
    torch._foreach_lerp_(list(average.values()), [p.detach() for p in net.parameters()], 1 - decay)
    if step % 100 == 0 or args.steps and step % 20 == 0:
        loss = torch.stack(losses).mean().item()
        losses = []
        rate = (step - first) * args.batch / (time.time() - started)
        log(f"step {step}  loss {loss:.4f}  norm {norm.item():.3f}  progress {progress:.3f}  {rate:.0f} grids/s")
        if not math.isfinite(loss):
            raise SystemExit("the loss is not finite")
    if step % 1000 == 0 and cuda or progress >= 1:
        flat_of(average, args.layers).tofile(os.path.join(args.out, "weights.f32"))

flat_of(average, args.layers).tofile(os.path.join(args.out, "weights.f32"))
json.dump({"layers": args.layers, "width": args.width, "steps": step, "batch": args.batch}, open(os.path.join(args.out, "shape.json"), "w"))
torch.save(
    {"net": net.state_dict(), "adam": adam.state_dict(), "momenta": momenta, "average": average, "step": step},
    os.path.join(args.out, "checkpoint.pt"),
)
log(f"{step} steps, {step * args.batch} grids, {time.time() - began:.0f} s")
if args.samples > 0:
    report(averaged(), "after", args.samples, puzzles=True)
log(f"ended after {time.time() - began:.0f} s")
