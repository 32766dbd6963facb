"""Trains a small noise-predicting network in PyTorch and writes it as ONNX, for examples/torch-score.ts to sample on the simplex.

    pip install torch onnx onnxscript
    python examples/torch-score.py            (half a minute on one core)

The data are compositions of four parts; the network sees their three log-ratios log(yᵢ/y₄). The noise is that of the
variance-preserving SDE with β from 0.1 to 20, which diffeo calls vp().
"""
import os

import onnx
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

means = torch.tensor([[2.0, 0.0, -1.0], [-1.0, 1.5, 1.0], [-1.0, -2.0, 0.5]])
spreads = torch.tensor([0.5, 0.7, 0.4])


def draw(count):
    which = torch.randint(3, (count,))
    return means[which] + spreads[which, None] * torch.randn(count, 3)


class Noise(nn.Module):
    """ε(x, t): what was added to the data."""

    def __init__(self, width=64):
        super().__init__()
        self.register_buffer("frequencies", torch.tensor([1.0, 2.0, 4.0]))
        self.layers = nn.Sequential(
            nn.Linear(3 + 7, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 3)
        )

    def forward(self, x, t):
        waves = t[:, None] * self.frequencies
        return self.layers(torch.cat([x, t[:, None], torch.sin(waves), torch.cos(waves)], dim=1))


net = Noise()
steps = 6000
optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995))
for step in range(steps):
    x0, noise = draw(512), torch.randn(512, 3)
    t = 1e-3 + (1 - 1e-3) * torch.rand(512)
    integral = 0.1 * t + 0.5 * 19.9 * t**2
    m, sigma = torch.exp(-0.5 * integral)[:, None], torch.sqrt(-torch.expm1(-integral))[:, None]
    loss = (net(m * x0 + sigma * noise, t) - noise).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    schedule.step()
    average.update_parameters(net)
print(f"loss {loss.item():.3f}")

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch-score.onnx")
batch = torch.export.Dim("batch")
torch.onnx.export(
    average.module.eval(),
    (torch.zeros(2, 3), torch.zeros(2)),
    path,
    input_names=["x", "t"],
    output_names=["noise"],
    dynamic_shapes={"x": {0: batch}, "t": {0: batch}},
    external_data=False,
)
# The exporter notes lines of source beside every node, with the paths of this machine.
model = onnx.load(path)
for part in [*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer, model.graph, model]:
    del part.metadata_props[:]
onnx.save(model, path)
