"""Samples rows of a fitted table with ONNX Runtime and pandas, without Node.

    diffeo table fit soil.csv --out soil.model --network residual
    diffeo table export --model soil.model --what denoise --out denoise.onnx
    diffeo table export --model soil.model --what rows --out rows.onnx
    pip install numpy pandas onnxruntime
    python table.py denoise.onnx rows.onnx rows.csv
"""
import json
import sys

import numpy as np
import onnxruntime
import pandas as pd


def open_model(path):
    """The session of a file, and the metadata that `table export` wrote into it."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    return session, {name: json.loads(metadata[name]) for name in ("columns", "spec", "last")}


def sample_x(session, last, generator, steps=50):
    """Samples x by steps of first order from noise to data. One call has the rows of one batch."""
    batch, dimension = session.get_inputs()[0].shape

    def mean_factor(t):
        return np.exp(-0.05 * t - 4.975 * t**2)

    def std(t):
        return np.sqrt(1 - mean_factor(t) ** 2)

    def denoise(x, t):
        feeds = {"x": x.astype(np.float32), "t": np.full(batch, t, np.float32)}
        return session.run(None, feeds)[0].astype(np.float64)

    # Times that are uniform in log m/σ, between 1 and the time at which rows are data.
    fine = np.geomspace(last, 1, 100_000)
    ratio = np.log(mean_factor(fine) / std(fine))
    times = np.interp(np.linspace(ratio[-1], ratio[0], steps), ratio[::-1], fine[::-1])
    x = generator.standard_normal((batch, dimension))
    for t, s in zip(times[:-1], times[1:]):
        x0 = denoise(x, t)
        x = mean_factor(s) * x0 + std(s) / std(t) * (x - mean_factor(t) * x0)
    return denoise(x, times[-1])


def cells_of(domain, y):
    """The cells of one column from its part of y. The documentation lists the other kinds."""
    kind = domain["kind"]
    if kind == "category":
        shares = np.column_stack([y, 1 - y.sum(axis=1)])
        return np.array(domain["labels"])[shares.argmax(axis=1)]
    if kind not in ("integer", "real", "positive", "between"):
        raise ValueError(f"this example has no cells of kind {kind}")
    cells = np.floor(y[:, 0]) if kind == "integer" else y[:, 0]
    low, high = domain.get("range", (domain.get("least"), domain.get("most")))
    if low is not None or high is not None:
        cells = np.clip(cells, low, high)
    if "step" in domain:
        cells = np.round(cells / domain["step"]) * domain["step"]
    return cells.astype(int) if kind == "integer" else cells


def main(denoise_path, rows_path, out):
    denoiser, metadata = open_model(denoise_path)
    mapping, _ = open_model(rows_path)
    x = sample_x(denoiser, metadata["last"], np.random.default_rng(0))
    y = mapping.run(None, {"x": x})[0]
    parts = metadata["spec"]["domain"]["parts"]
    table = pd.DataFrame(
        {
            column["name"]: cells_of(part["domain"], y[:, slice(*column["y"])])
            for column, part in zip(metadata["columns"], parts)
        }
    )
    table.to_csv(out, index=False)
    print(table.describe(include="all"))


if __name__ == "__main__":
    main(*sys.argv[1:])
