"""Part A: synthetic rows of a large mixed table compared with its training and test rows."""
import json
from pathlib import Path

import numpy as np
import xgboost
from rows import Rows, coded, labels_of, one_hot
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

BINS = 10
FOLDS = 3
STEPS = 30

# Shape, trend, detection


def kolmogorov(a, b):
    """The largest distance of two empirical distribution functions."""
    a, b = np.sort(a), np.sort(b)
    all_values = np.concatenate([a, b])
    left = np.searchsorted(a, all_values, side="right") / len(a)
    right = np.searchsorted(b, all_values, side="right") / len(b)
    return np.abs(left - right).max()


def total_variation(a, b):
    """Half the L1 distance of the frequencies of two sets of labels."""
    labels, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    first = np.bincount(codes[: len(a)], minlength=len(labels)) / len(a)
    second = np.bincount(codes[len(a) :], minlength=len(labels)) / len(b)
    return np.abs(first - second).sum() / 2


def shape(real, fake):
    return {
        n: 1 - (total_variation if n in real.categorical else kolmogorov)(real.column(n), fake.column(n))
        for n in real.names
    }


def trend(real, fake):
    """Mean over pairs: 1 − |ρ − ρ̂|/2 of numbers, else 1 − total variation of the joint labels."""

    def discrete(n):
        if n in real.categorical:
            return real.column(n), fake.column(n)
        edges = np.linspace(real.column(n).min(), real.column(n).max(), BINS + 1)[1:-1]
        return np.digitize(real.column(n), edges), np.digitize(fake.column(n), edges)

    def codes(n):
        a, b = discrete(n)
        return np.unique(np.concatenate([a, b]), return_inverse=True)[1]

    cut = {n: codes(n) for n in real.names}
    scores = []
    for i, first in enumerate(real.names):
        for second in real.names[:i]:
            if first not in real.categorical and second not in real.categorical:
                rho = [np.corrcoef(t.column(first), t.column(second))[0, 1] for t in (real, fake)]
                scores.append(1 - abs(np.nan_to_num(rho[0]) - np.nan_to_num(rho[1])) / 2)
            else:
                joint = cut[first] * (cut[second].max() + 1) + cut[second]
                scores.append(1 - total_variation(joint[: real.count], joint[real.count :]))
    return float(np.mean(scores))


def booster(x, y, kinds, seed, regression=False):
    data = xgboost.DMatrix(x, y, feature_types=kinds, enable_categorical=True)
    settings = {
        "objective": "reg:squarederror" if regression else "binary:logistic",
        "tree_method": "hist",
        "nthread": 1,
        "seed": seed,
    }
    trained = xgboost.train(settings, data, 100)
    return trained, lambda z: trained.predict(
        xgboost.DMatrix(z, feature_types=kinds, enable_categorical=True)
    )


def out_of_fold(x, y, fit):
    scores = np.zeros(len(y))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(x, y):
        scores[test] = fit(x[train], y[train])(x[test])
    return 1 - (2 * max(0.5, roc_auc_score(y, scores)) - 1)


def detection(real, fake):
    """Scores of two classifiers that tell real rows from synthetic ones; 1 is indistinguishable."""
    kinds = ["c" if n in real.categorical else "q" for n in real.names]
    y = np.repeat([0, 1], [real.count, fake.count])

    def trees(x, labels):
        return booster(x, labels, kinds, 0)[1]

    def logistic(x, labels):
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(x, labels)
        return lambda z: model.predict_proba(z)[:, 1]

    codes = np.concatenate(coded([real, fake]))
    # Of two thirds of the rows: all columns of all rows may agree exactly, and then no tree splits.
    part, _ = next(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(codes, y))
    gains = booster(codes[part], y[part], kinds, 0)[0].get_score(importance_type="total_gain")
    total = sum(gains.values()) or 1
    return {
        "trees": out_of_fold(codes, y, trees),
        "logistic": out_of_fold(np.concatenate(one_hot([real, fake], real)), y, logistic),
        "gains": {real.names[int(k[1:])]: g / total for k, g in gains.items()},
    }


# Neighbours


def nearest(points, of, k=1, block=2048):
    """Distances of `points` to their k-th neighbour among `of`, and its place."""
    norms = (of**2).sum(1)
    distances, places = np.empty(len(points)), np.empty(len(points), int)
    for i in range(0, len(points), block):
        some = points[i : i + block]
        squares = norms[None] - 2 * some @ of.T + (some**2).sum(1)[:, None]
        at = np.argpartition(squares, k - 1, 1)[:, k - 1] if k > 1 else squares.argmin(1)
        places[i : i + block] = at
        # From the differences, so that copies have distance 0 exactly.
        distances[i : i + block] = np.sqrt(((some - of[at]) ** 2).sum(1))
    return distances, places


def alpha_beta(real, fake):
    """α-precision and β-recall of synthcity without its embedding (its "naive" values)."""
    x, z = one_hot([real, fake], real)
    count = min(len(x), len(z))
    x, z = x[:count], z[:count]
    alphas = np.linspace(0, 1, STEPS)
    centre, own_centre = x.mean(0), z.mean(0)
    radii = np.quantile(np.sqrt(((x - centre) ** 2).sum(1)), alphas)
    to_centre = np.sqrt(((z - centre) ** 2).sum(1))
    real_to_real, _ = nearest(x, x, 2)
    real_to_fake, at = nearest(x, z)
    closest = np.sqrt(((z[at] - own_centre) ** 2).sum(1))
    own_radii = np.quantile(closest, alphas)
    covered = real_to_fake <= real_to_real
    precision = np.array([(to_centre <= r).mean() for r in radii])
    coverage = np.array([(covered & (closest <= r)).mean() for r in own_radii])
    score = lambda curve: float(1 - np.abs(alphas - curve).sum() / alphas.sum())
    return {"alphaPrecision": score(precision), "betaRecall": score(coverage)}


def copies(train, test, fake):
    """Rows that occur in the training set, and the share nearer to training than to test rows.

    Both sets have one size: the larger is cut to a random subset.
    """
    rows = lambda t: list(zip(*(c.tolist() for c in t.columns)))
    seen = set(rows(train))
    shared = np.mean([row in seen for row in rows(fake)])
    by_chance = np.mean([row in seen for row in rows(test)])
    x, y, z = one_hot([train, test, fake], train)
    size = min(len(x), len(y))
    pick = np.random.default_rng(0).permutation(len(x))[:size]
    to_train, _ = nearest(z, x[pick])
    to_test, _ = nearest(z, y[:size])
    nearer = np.mean(to_train < to_test) + np.mean(to_train == to_test) / 2
    return {"copies": float(shared), "copiesOfTest": float(by_chance), "nearer": float(nearer)}


def usefulness(fake, test, target, task):
    """Boosted trees trained on `fake` and tested on `test`: AUC, or RMSE of the target."""
    names = [n for n in fake.names if n != target]
    x, z = coded([fake.by(names), test.by(names)])
    kinds = ["c" if n in fake.categorical else "q" for n in names]
    regression = task == "regression"
    if regression:
        y, truth = fake.column(target), test.column(target)
    else:
        labels = labels_of([fake, test], target)
        y, truth = (np.searchsorted(labels, t.column(target)) for t in (fake, test))
        if len(np.unique(y)) < 2:
            return 0.5
    _, predict = booster(x, y, kinds, 0, regression)
    if regression:
        return float(np.sqrt(mean_squared_error(truth, predict(z))))
    return float(roc_auc_score(truth, predict(z)))


def mixed(task):
    info = json.loads(Path(task["info"]).read_text())
    categorical = set(info["categorical"])
    if info["task"] != "regression":
        categorical.add(info["target"])
    read = lambda path: Rows.read(path, categorical).by(info["columns"])
    train, test, fake = read(task["train"]), read(task["test"]), read(task["synthetic"])
    columns = shape(train, fake)
    answer = {
        "shape": float(np.mean(list(columns.values()))),
        "shapes": columns,
        "trend": trend(train, fake),
        **detection(train, fake),
    }
    if task.get("quick"):
        return answer
    return {
        **answer,
        **alpha_beta(train, fake),
        **copies(train, test, fake),
        "useful": usefulness(fake, test, info["target"], info["task"]),
        "usefulReal": usefulness(train, test, info["target"], info["task"]),
    }
