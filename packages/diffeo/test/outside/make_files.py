"""ONNX files in the styles of several exporters, all of one function: f(x, t) = tanh(x A + t u + b) C.

    /usr/bin/python3 packages/diffeo/test/outside/make_files.py      (Debian's python3-onnx)
"""
import os
import numpy as np
import onnx
from onnx import TensorProto, helper as h, numpy_helper

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
F, D, H, I = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64
types = {F: np.float32, D: np.float64, H: np.float16}

A = np.array([[0.5, -1.0, 0.25], [0.75, 0.5, -0.5]])
u = np.array([[1.0, -0.5, 0.5]])
b = np.array([0.25, 0.0, -0.25])
C = np.array([[1.0, -0.5], [0.5, 1.0], [-0.25, 0.75]])


def weights(kind):
    return [numpy_helper.from_array(v.astype(types[kind]), n) for n, v in dict(A=A, u=u, b=b, C=C).items()]


def body(x="x", t="t", out="f", column=True):
    """t as a column: [batch, 1]."""
    return [
        *([h.make_node("Unsqueeze", [t, "one"], ["tc"])] if column else []),
        h.make_node("MatMul", [x, "A"], ["xa"]),
        h.make_node("Mul", ["tc" if column else t, "u"], ["tu"]),
        h.make_node("Add", ["xa", "tu"], ["s"]),
        h.make_node("Add", ["s", "b"], ["sb"]),
        h.make_node("Tanh", ["sb"], ["h"]),
        h.make_node("MatMul", ["h", "C"], [out]),
    ]


one = numpy_helper.from_array(np.array([1], dtype=np.int64), "one")


def save(name, nodes, inputs, outputs, initializers, opset=13, ir=7, producer="hand", functions=(), more=(), check=True):
    graph = h.make_graph(nodes, "g", inputs, outputs, initializers)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset), *more], producer_name=producer, functions=list(functions))
    model.ir_version = ir
    if check:
        onnx.checker.check_model(model)
    with open(os.path.join(here, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def port(name, kind=F, shape=("batch", 2)):
    return h.make_tensor_value_info(name, kind, shape)


x, t, f = port("x"), port("t", F, ["batch"]), port("f")

# PyTorch's way: weights as initializers, axes by name.
save("torch-style", body(), [x, t], [f], [*weights(F), one], opset=14, ir=7, producer="pytorch")
# TensorFlow's: constants as nodes, long names with colons, open sizes that share no name.
consts = [h.make_node("Constant", [], [n.name], value=n) for n in [*weights(F), one]]
save("constant-nodes", [*consts, *body("serving/x:0", "serving/time:0", "Identity:0")],
     [port("serving/x:0", F, ["unk__1", 2]), port("serving/time:0", F, ["unk__2"])], [port("Identity:0", F, ["unk__3", 2])], [], opset=15, ir=8, producer="tf2onnx")
# The oldest: every initializer is listed among the inputs, as IR version 3 wants it.
listed = [h.make_tensor_value_info(n.name, n.data_type, n.dims) for n in [*weights(F), one]]
save("initializers-as-inputs", body(), [*listed, x, t], [f], [*weights(F), one], opset=13, ir=3, producer="caffe2")
# t in a column, first among the inputs.
rename = lambda nodes, new: [h.make_node(n.op_type, [new.get(i, i) for i in n.input], list(n.output)) for n in nodes]
save("column", rename(body(column=False), {"x": "sample", "t": "sigma"}),
     [port("sigma", F, ["n", 1]), port("sample", F, ["n", 2])], [port("f", F, ["n", 2])], weights(F), opset=17, ir=8, producer="jax2onnx")
# One time for all rows: a number, a vector of one.
save("scalar-time", body(column=False), [x, port("t", F, [])], [f], weights(F), opset=17, ir=8)
save("single-time", body(column=False), [x, port("t", F, [1])], [f], weights(F), opset=16, ir=8)
# No shapes at all.
bare = lambda name: h.make_tensor_value_info(name, F, None)
save("no-shapes", body(), [bare("x"), bare("t")], [bare("f")], [*weights(F), one], check=False)  # the checker wants them
# A fixed batch of four.
save("batch-of-four", body(), [port("x", F, [4, 2]), port("t", F, [4])], [port("f", F, [4, 2])], [*weights(F), one])
# float16 weights between float32 ports; ports of float16 throughout; float64; whole steps of time.
cast = lambda a, b, to: h.make_node("Cast", [a], [b], to=to)
save("half-weights", [cast("x", "xh", H), cast("t", "th", H), *body("xh", "th", "fh"), cast("fh", "f", F)], [x, t], [f], [*weights(H), one])
save("half-ports", body(), [port("x", H), port("t", H, ["batch"])], [port("f", H)], [*weights(H), one])
save("double", body(), [port("x", D), port("t", D, ["batch"])], [port("f", D)], [*weights(D), one])
scale = numpy_helper.from_array(np.array(0.001, dtype=np.float32), "scale")
save("whole-time", [cast("timestep", "tf", F), h.make_node("Mul", ["tf", "scale"], ["t"]), *body()],
     [x, port("timestep", I, ["batch"])], [f], [*weights(F), one, scale])
# A function of the file's own, and a branch with weights inside its graphs.
local = h.make_function("own", "Net", ["x", "t", "A", "u", "b", "C", "one"], ["f"], body(), [h.make_opsetid("", 15)])
save("local-function", [h.make_node("Net", ["x", "t", "A", "u", "b", "C", "one"], ["f"], domain="own")],
     [x, t], [f], [*weights(F), one], opset=15, ir=8, functions=[local], more=[h.make_opsetid("own", 1)])
branch = h.make_graph(body(out="fb"), "then", [], [h.make_tensor_value_info("fb", F, None)], weights(F))
branch2 = h.make_graph(body(out="fc"), "else", [], [h.make_tensor_value_info("fc", F, None)], weights(F))
yes = numpy_helper.from_array(np.array(True), "yes")
save("branch", [h.make_node("If", ["yes"], ["f"], then_branch=branch, else_branch=branch2)], [x, t], [f], [one, yes], opset=16, ir=8)
# A second output, and a third input with a class.
save("more-ports", [*body(out="f0"), h.make_node("Gather", ["table", "label"], ["shift"]), h.make_node("Add", ["f0", "shift"], ["f"]),
                    h.make_node("ReduceSum", ["f"], ["total"])],
     [x, t, port("label", I, [1])], [port("total", F, [1, 1]), f],
     [*weights(F), one, numpy_helper.from_array(np.array([[0.0, 0.0], [1.0, 2.0]], dtype=np.float32), "table")])
# Sizes of an event left open, and a network without time.
save("open-event", [h.make_node("Unsqueeze", ["t", "one"], ["tc"]), h.make_node("Mul", ["x", "tc"], ["f"])],
     [port("x", F, ["batch", "n"]), t], [port("f", F, ["batch", "n"])], [one])
save("timeless", [h.make_node("MatMul", ["x", "A2"], ["f"])], [x], [f], [numpy_helper.from_array(-np.eye(2, dtype=np.float32), "A2")])
# Wrong ones: a row that depends on its batch, an output twice as wide, numbers in another file.
save("training-mode", [*body(out="f0"), h.make_node("ReduceMean", ["f0"], ["m"], axes=[0], keepdims=1), h.make_node("Sub", ["f0", "m"], ["f"])],
     [x, t], [f], [*weights(F), one])
save("two-numbers", [*body(out="f0"), h.make_node("Concat", ["f0", "f0"], ["f"], axis=1)], [x, t], [port("f", F, ["batch", 4])], [*weights(F), one])
outside = TensorProto(name="A", data_type=F, dims=[2, 3], data_location=TensorProto.EXTERNAL)
outside.external_data.add(key="location", value="/etc/hostname")
graph = h.make_graph(body(), "g", [x, t], [f], [outside, *weights(F)[1:], one])
with open(os.path.join(here, "other-file.onnx"), "wb") as file:
    file.write(h.make_model(graph, opset_imports=[h.make_opsetid("", 13)]).SerializeToString())
# A function whose attribute has a default (FunctionProto.attribute_proto) that lies in another file.
lines = TensorProto(name="A", data_type=F, dims=[2, 3], data_location=TensorProto.EXTERNAL)
lines.external_data.add(key="location", value="numbers.bin")
constant = h.make_node("Constant", [], ["A"])
constant.attribute.add(name="value", ref_attr_name="value", type=onnx.AttributeProto.TENSOR)
default = h.make_function("own", "Net", ["x", "t", "u", "b", "C", "one"], ["f"], [constant, *body()], [h.make_opsetid("", 15)])
standard = h.make_attribute("value", lines).SerializeToString()
default.MergeFromString(bytes([11 << 3 | 2, len(standard)]) + standard)  # field 11 is newer than Debian's package
save("function-default", [h.make_node("Net", ["x", "t", "u", "b", "C", "one"], ["f"], domain="own")],
     [x, t], [f], [*weights(F)[1:], one], opset=15, ir=8, functions=[default], more=[h.make_opsetid("own", 1)], check=False)
