"""Part B: synthetic and completed rows of a small table, measured as ForestDiffusion does.

Rows are coded by the training rows: numbers divided by their range, a category of more than two
values as indicators divided by 2, so that the L1 distance is Gower's.
"""
import json
import warnings
from pathlib import Path

import numpy as np
import ot
from rows import Rows
from scipy.spatial.distance import cdist
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, r2_score
from xgboost import XGBClassifier, XGBRegressor

MOST_TRANSPORTED = 5000
COVERED = 0.95
INTERVAL = 0.9


def numbers(path, names):
    rows = Rows.read(path, set()).by(names)
    return np.column_stack(rows.columns)


class Scale:
    """The coding of rows by the training rows; `owner` is the column that each coordinate is of."""

    def __init__(self, train, categorical, others=()):
        self.categorical = categorical
        together = np.concatenate([train, *others])
        self.labels = {j: np.unique(together[:, j]) for j in categorical}
        self.low, self.range = train.min(0), np.ptp(train, axis=0)
        self.range[self.range == 0] = 1
        width = lambda j: len(self.labels[j]) if j in categorical else 1
        self.owner = np.concatenate([np.full(width(j), j) for j in range(train.shape[1])])

    def __call__(self, x):
        def columns():
            for j in range(x.shape[1]):
                if j in self.categorical:
                    yield (x[:, j, None] == self.labels[j][None]) / 2
                else:
                    yield ((x[:, j] - self.low[j]) / self.range[j])[:, None]

        return np.concatenate(list(columns()), 1)


def transport(a, b):
    """Exact optimal transport of two sets of rows with the L1 cost."""
    return float(ot.emd2(ot.unif(len(a)), ot.unif(len(b)), cdist(a, b, "cityblock"), numItermax=10**7))


def coverage(real, fake):
    """The share of real rows with a synthetic row nearer than their k-th real neighbour.

    ForestDiffusion looks for the least k with which real rows cover themselves by 95 %, and then
    uses the one after it; so do we, so that values can be compared.
    """
    among = np.sort(cdist(real, real, "cityblock"), axis=1)
    # Column 0 is the row itself, at distance 0: it covers unless its k-th neighbour is a copy.
    k = next((k for k in range(1, len(real)) if (among[:, k] > 0).mean() >= COVERED), len(real) - 2)
    k = min(k + 1, len(real) - 1)
    return float((cdist(real, fake, "cityblock").min(1) < among[:, k]).mean())


def nearness(train, test, fake):
    """Whether synthetic rows are rows of training, and how much nearer they are to these than test rows.

    The share of copies, and the median distance of synthetic rows to the nearest row of training over
    that of test rows: 1 is what rows of the same distribution have.
    """
    own, fresh = [cdist(rows, train, "cityblock").min(1) for rows in (fake, test)]
    middle = np.median(fresh)
    ratio = float(np.median(own) / middle) if middle > 0 else None
    return {"copies": float((own < 1e-9).mean()), "freshCopies": float((fresh < 1e-9).mean()), "nearness": ratio}


def usefulness(fake, test, categorical, is_class, tries):
    """Mean of four models trained on `fake` and tested on `test`: macro F1, or R² of a number."""
    categorical = {j for j in categorical if j < fake.shape[1] - 1}
    scale = Scale(fake[:, :-1], categorical, [test[:, :-1]])
    expand = lambda x: np.concatenate(
        [
            (x[:, j, None] == scale.labels[j][None, 1:]).astype(float)
            if j in categorical
            else x[:, j, None]
            for j in range(x.shape[1])
        ],
        1,
    )
    x, z = expand(fake[:, :-1]), expand(test[:, :-1])
    y, truth = fake[:, -1], test[:, -1]
    if not is_class:
        models = lambda i: [
            LinearRegression(),
            AdaBoostRegressor(random_state=i),
            RandomForestRegressor(max_depth=28, random_state=i),
            XGBRegressor(objective="reg:squarederror", reg_lambda=0.0, random_state=i, n_jobs=1),
        ]
        return float(np.mean([r2_score(truth, m.fit(x, y).predict(z)) for i in range(tries) for m in models(i)]))
    labels = np.unique(y)
    if not np.isin(truth, labels).all():
        return 0.0
    y = np.searchsorted(labels, y)
    models = lambda i: [
        LogisticRegression(penalty=None, max_iter=500, random_state=i),
        AdaBoostClassifier(random_state=i),
        RandomForestClassifier(max_depth=28, random_state=i),
        XGBClassifier(reg_lambda=0.0, random_state=i, n_jobs=1),
    ]
    score = lambda m: f1_score(truth, labels[m.fit(x, y).predict(z)], average="macro")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(np.mean([score(m) for i in range(tries) for m in models(i)]))


def settings(info):
    names = info["names"]
    categorical = {names.index(n) for n in info["category"]}
    if info["target_kind"] == "cat":
        categorical.add(names.index(info["target"]))
    return names, categorical, info["target_kind"] != "real"


def small(task):
    names, categorical, is_class = settings(task["info"])
    train, test = numbers(task["train"], names), numbers(task["test"], names)
    fakes = [numbers(path, names) for path in task["synthetic"]]
    scale = Scale(train, categorical, [test, *fakes])
    x, z = scale(train), scale(test)
    answers = []
    for fake in fakes:
        own = scale(fake)
        fits = len(train) <= MOST_TRANSPORTED
        answers.append(
            {
                "wTrain": transport(x, own) if fits else None,
                "wTest": transport(z, own) if fits else None,
                "coverageTrain": coverage(x, own),
                "coverageTest": coverage(z, own),
                **nearness(x, z, own),
                "useful": usefulness(fake, test, categorical, is_class, task.get("tries", 1)),
            }
        )
    mean = lambda k: None if any(a[k] is None for a in answers) else float(np.mean([a[k] for a in answers]))
    return {**{k: mean(k) for k in answers[0]}, "isClass": is_class}


def errors(truth, draws, mask, scale):
    """MinMAE and AvgMAE over masked cells, in the scale of the training rows."""
    own = mask[:, scale.owner]
    gaps = np.abs(np.stack([scale(d) for d in draws]) - scale(truth))[:, own]
    return {"min": float(gaps.min(0).sum() / mask.sum()), "avg": float(gaps.mean(0).sum() / mask.sum())}


def impute(task):
    """Errors of completed cells, and the share of numbers in the 90 % intervals of many draws."""
    names, categorical, _ = settings(task["info"])
    truth, holes = numbers(task["train"], names), numbers(task["holes"], names)
    mask = np.isnan(holes)
    draws = [numbers(path, names) for path in task["draws"]]
    scale = Scale(truth, categorical, draws)
    answer = {"draws": errors(truth, draws[: task["count"]], mask, scale)}
    stack = np.stack(draws)
    real = [j for j in range(truth.shape[1]) if j not in categorical]
    if task.get("point"):
        answer["point"] = errors(truth, [numbers(task["point"], names)], mask, scale)
    if len(draws) >= 20 and mask[:, real].any():
        tail = (1 - INTERVAL) / 2
        # Of n draws and the truth, all alike, the truth is below the quantile of p (n + 1) with chance p;
        # NumPy's usual rule would have .857 of 41 calibrated draws.
        low, high = np.quantile(stack[:, :, real], [tail, 1 - tail], axis=0, method="weibull")
        inside = (truth[:, real] >= low) & (truth[:, real] <= high)
        answer["covered"] = float(inside[mask[:, real]].mean())
    return answer
