"""The function of make_files.py as PyTorch's two exporters write it.

    pip install torch onnx onnxscript
    python packages/diffeo/test/outside/make_torch_files.py
"""
import os

import onnx
import torch
from torch import nn

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 3), nn.Linear(3, 2, bias=False)
        self.first.weight.data = torch.tensor([[0.5, -1.0, 0.25], [0.75, 0.5, -0.5]]).T.contiguous()
        self.first.bias.data = torch.tensor([0.25, 0.0, -0.25])
        self.second.weight.data = torch.tensor([[1.0, -0.5], [0.5, 1.0], [-0.25, 0.75]]).T.contiguous()
        self.register_buffer("u", torch.tensor([[1.0, -0.5, 0.5]]))

    def forward(self, x, t):
        return self.second(torch.tanh(self.first(x) + t[:, None] * self.u))


net, example = Net().eval(), (torch.zeros(2, 2), torch.zeros(2))
names = dict(input_names=["x", "t"], output_names=["f"])
axes = {name: {0: "batch"} for name in ["x", "t", "f"]}
torch.onnx.export(net, example, os.path.join(here, "torch-script.onnx"), dynamo=False, opset_version=13, dynamic_axes=axes, **names)
batch = torch.export.Dim("batch")
path = os.path.join(here, "torch-dynamo.onnx")
torch.onnx.export(net, example, path, dynamo=True, opset_version=21, dynamic_shapes={"x": {0: batch}, "t": {0: batch}}, external_data=False, **names)
model = onnx.load(path)
for part in [*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer, model.graph, model]:
    del part.metadata_props[:]
onnx.save(model, path)
