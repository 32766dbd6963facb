"""A chess network, a U-Net or a transformer, in PyTorch with its own weights: the same layers, loss, optimiser and sampler's update.

Arguments: threads, the model's file, the device (cpu or cuda). On every line `run TASK` runs a task once and answers with a
number: milliseconds for `sample COUNT`, one step of the reverse process, and `train BATCH`, one step of training; the largest
relative difference from the numbers of a file for `check FILE`.
"""
import json
import math
import struct
import sys
import time

import torch
from torch.nn import functional as F
from torch_transformer import Transformer
from torch_unet import UNet

THREADS, MODEL, DEVICE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(THREADS)
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def read_safetensors(path):
    """Arrays by name, in float32, and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        kind = {"F16": torch.float16, "F32": torch.float32}[entry["dtype"]]
        part = bytearray(data[8 + length + start : 8 + length + end])
        arrays[name] = torch.frombuffer(part, dtype=kind).reshape(entry["shape"]).float()
    return arrays, metadata


ORDER = {4: (3, 2, 0, 1), 3: (2, 0, 1), 2: (1, 0), 1: (0,)}


def named(network):
    """The network's parameters by diffeo's names and in its order."""
    own, found = dict(network.named_parameters()), {}
    for name, array in weights.items():
        path = name.replace(".scale", ".weight").replace(".shift", ".bias")
        path = path[:-2] + {".w": ".weight", ".b": ".bias"}[path[-2:]] if path[-2:] in (".w", ".b") else path
        found[name] = own.pop(path)
    if own:
        sys.exit(f"no weights for {sorted(own)}")
    return found


weights, metadata = read_safetensors(MODEL)
spec = json.loads(metadata["spec"])
if spec["parameterisation"] != "posterior":
    sys.exit("this peer knows class posteriors alone")
encoding = spec["encoding"]
n = encoding["classes"] - 1
contrast = math.log((1 - n * encoding["epsilon"]) / encoding["epsilon"])
logits = torch.cat([contrast * torch.eye(n), torch.full((1, n), -contrast)])
codes = ((logits - torch.tensor(encoding["mean"])) / encoding["scale"]).to(DEVICE)
boards = torch.randint(0, n + 1, (20_000, 8, 8)).to(DEVICE)


def rate(t):
    return 0.1 + 19.9 * t


def levels(t):
    """m and sigma of the VP process."""
    integral = t * (0.1 + 0.5 * 19.9 * t)
    return torch.exp(-0.5 * integral), torch.sqrt(-torch.expm1(-integral))


def make(layout):
    network = (Transformer if spec["network"].get("kind") == "transformer" else UNet)(spec["network"])
    with torch.no_grad():
        for name, parameter in named(network).items():
            parameter.copy_(weights[name].permute(ORDER[parameter.dim()]))
    return network.to(DEVICE).to(memory_format=layout)


def noisy(classes, t, noise):
    m, sigma = (v[:, None, None, None] for v in levels(t))
    return m * codes[classes].permute(0, 3, 1, 2) + sigma * noise


def finish():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def sampler(layout, count):
    """Steps of the reverse process, Euler–Maruyama in x, with noise drawn in each."""
    network = make(layout).eval()
    x = torch.randn(count, n, 8, 8, device=DEVICE).to(memory_format=layout)
    dt, state = 0.999 / 250, {"x": x, "t": 1.0}

    @torch.inference_mode()
    def step():
        x, t = state["x"], torch.full((count,), state["t"], device=DEVICE)
        m, sigma = (v[:, None, None, None] for v in levels(t))
        b = rate(t)[:, None, None, None]
        posterior = torch.softmax(network(x, t), 1)
        expected = (posterior.permute(0, 2, 3, 1) @ codes).permute(0, 3, 1, 2)
        drift = -0.5 * b * x - b * (m * expected - x) / sigma**2
        state["x"] = x - dt * drift + torch.sqrt(b * dt) * torch.randn_like(x)
        state["t"] = state["t"] - dt if state["t"] > 2 * dt else 1.0
        finish()

    return step


def trainer(layout, batch):
    """Steps of training: a batch, loss and gradient, clipping, AdamW and the average of parameters."""
    network = make(layout)
    parameters = list(network.parameters())
    average = [p.detach().clone() for p in parameters]
    fused = {"fused": True} if DEVICE == "cuda" and int(torch.__version__.split(".")[0]) >= 2 else {}
    optimiser = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.0, **fused)

    def step():
        classes = boards[torch.randint(0, len(boards), (batch,), device=DEVICE)]
        t = 1e-3 + 0.999 * torch.rand(batch, device=DEVICE)
        noise = torch.randn(batch, n, 8, 8, device=DEVICE)
        x = noisy(classes, t, noise).contiguous(memory_format=layout)
        optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(x, t), classes)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_mul_(average, 0.9995)
            torch._foreach_add_(average, parameters, alpha=0.0005)
        loss.item()
        finish()

    return step


def milliseconds(task):
    start = time.perf_counter()
    task()
    return 1000 * (time.perf_counter() - start)


def fastest(kind, size):
    """The task in the memory layout that is faster here."""
    best = None
    for layout in (torch.contiguous_format, torch.channels_last):
        task = kind(layout, size)
        task()
        took = min(milliseconds(task) for _ in range(3))
        if best is None or took < best[0]:
            best = took, task, layout
        del task
    print(f"PyTorch: {best[2]} for {kind.__name__} {size}", file=sys.stderr, flush=True)
    return best[1]


def check(path):
    """The network's output for x and t, and the loss and gradient of a batch, beside those in the file."""
    given, _ = read_safetensors(path)
    network = make(torch.contiguous_format)
    on = lambda name: given[name].to(DEVICE)
    with torch.no_grad():
        out = network(on("x").permute(0, 3, 1, 2), on("t")).permute(0, 2, 3, 1)
    classes = on("classes").long()
    loss = F.cross_entropy(network(noisy(classes, on("t"), on("noise").permute(0, 3, 1, 2)), on("t")), classes)
    loss.backward()
    # The inverse of the order in which weights came in.
    back = lambda g: g.permute([ORDER[g.dim()].index(axis) for axis in range(g.dim())])
    gradient = torch.cat([back(p.grad).reshape(-1) for p in named(network).values()])
    apart = lambda a, b: ((a - b).norm() / b.norm()).item()
    return max(apart(on("out"), out), apart(on("loss"), loss.detach()), apart(10 * on("m"), gradient))


kinds, tasks = {"sample": sampler, "train": trainer}, {}
print(f"torch {torch.__version__.split('+')[0]} ms", flush=True)
for line in sys.stdin:
    _, name, argument = line.split(maxsplit=2)
    argument = argument.strip()
    if name == "check":
        print(check(argument), flush=True)
        continue
    if (name, argument) not in tasks:
        tasks = {(name, argument): fastest(kinds[name], int(argument))}
    print(milliseconds(tasks[name, argument]), flush=True)
