"""Writes vectors.json: log densities of SciPy for distributions of vectors, matrices and kinds.

python3 make_vectors.py
"""
import json
import numpy as np
from scipy import stats as st
from scipy.special import expit, gammaln

S = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
R = np.array([[1.0, 0.4, -0.3], [0.4, 1.0, 0.2], [-0.3, 0.2, 1.0]])
W = np.array([[3.0, 0.5, 0.1], [0.5, 2.0, -0.4], [0.1, -0.4, 1.5]])
M = np.array([0.5, -1.0, 2.0])
P = np.array([0.2, 0.5, 0.3])
L = np.array([-1.0, 0.5, 1.2])
A = np.array([0.7, 2.5, 1.3])
CUTS = np.array([-1.0, 0.5, 2.0])

def ordered(eta):
    upper = np.append(expit(CUTS - eta), 1)
    return np.log(np.diff(np.append(0, upper)))

def lkj(eta, r):
    # the partial correlations of the vine are independent Beta(b, b) on (-1, 1); r12, r13, r23|1
    def part(z, b): return st.beta(b, b).logpdf((z + 1) / 2) - np.log(2)
    z23 = (r[1, 2] - r[0, 1] * r[0, 2]) / np.sqrt((1 - r[0, 1] ** 2) * (1 - r[0, 2] ** 2))
    jac = -0.5 * np.log1p(-r[0, 1] ** 2) - 0.5 * np.log1p(-r[0, 2] ** 2)
    return part(r[0, 1], eta + 0.5) + part(r[0, 2], eta + 0.5) + part(z23, eta) + jac

def inflated(zero, base, x):
    return float(np.log(zero + (1 - zero) * base.pmf(0)) if x == 0 else np.log1p(-zero) + base.logpmf(x))

def hurdle(zero, base, x):
    return float(np.log(zero) if x == 0 else np.log1p(-zero) + base.logpmf(x) - np.log1p(-base.pmf(0)))

def share(base, a, b):
    return np.log(base.cdf(b) - base.cdf(a))

n, far = st.norm(1, 2), st.norm(0, 1)
points = np.array([[0.2, -0.7, 2.5], [3.0, 1.0, 1.0], [-4.0, -2.0, 0.0]])
simplexes = np.array([[0.2, 0.5, 0.3], [1e-6, 0.4, 0.599999], [0.9, 0.05, 0.05]])
counts = np.array([[2, 5, 3], [0, 10, 0], [4, 0, 6]])
walk = np.array([0.3, 0.5, -0.2, 1.0])
ar = np.array([1.0, 0.4, -0.3, 0.2])
past = [0.5, 1.5]

def autoregression():
    x = np.concatenate([past, ar])
    return sum(st.norm(0.1 + 0.6 * x[t - 1] - 0.3 * x[t - 2], 0.8).logpdf(x[t]) for t in range(2, 6))

def hmm(y, pi, T, mu, sd):
    paths = 0.0
    from itertools import product
    for z in product(range(len(pi)), repeat=len(y)):
        p = pi[z[0]] * st.norm(mu[z[0]], sd).pdf(y[0])
        for t in range(1, len(y)):
            p *= T[z[t - 1]][z[t]] * st.norm(mu[z[t]], sd).pdf(y[t])
        paths += p
    return np.log(paths)

x5 = np.array([0.0, 0.4, 1.1, 2.0, 2.2])
y5 = np.array([0.1, 0.5, -0.2, 0.9, 1.0])
def gp(k): return st.multivariate_normal(np.zeros(5), k + 0.09 * np.eye(5)).logpdf(y5)
d = np.abs(x5[:, None] - x5[None, :])
s3, s5 = np.sqrt(3) * d / 0.8, np.sqrt(5) * d / 0.8

OUT = {
    "multivariateNormal": st.multivariate_normal(M, S).logpdf(points).tolist(),
    "multivariateStudentT": st.multivariate_t(M, S, 3.5).logpdf(points).tolist(),
    "dirichlet": [float(st.dirichlet(A).logpdf(x)) for x in simplexes],
    "lkj": [float(lkj(e, R)) for e in (1.0, 2.5, 0.6)],
    "wishart": [float(st.wishart(v, S).logpdf(W)) for v in (4, 7.5)],
    "inverseWishart": [float(st.invwishart(v, S).logpdf(W)) for v in (4, 7.5)],
    "categorical": np.log(P).tolist(),
    "categorical, by logits": (L - np.log(np.exp(L).sum())).tolist(),
    "multinomial": [float(st.multinomial(10, P).logpmf(c)) for c in counts],
    "dirichletMultinomial": [float(st.dirichlet_multinomial(A, 10).logpmf(c)) for c in counts],
    "orderedLogistic": ordered(0.7).tolist(),
    "zeroInflated": [inflated(0.3, st.poisson(2.5), x) for x in (0, 1, 6)],
    "hurdle": [hurdle(0.3, st.poisson(2.5), x) for x in (0, 1, 6)],
    "truncated": (n.logpdf([0.0, 2.9]) - share(n, -1, 3)).tolist(),
    "truncated, above": (far.logpdf([8.5, 10.0]) - far.logsf(8)).tolist(),
    "censored": [float(n.logcdf(-1)), float(n.logpdf(0.5)), float(n.logsf(3))],
    "mixture": np.log(0.3 * st.norm(0, 1).pdf([-1, 0.5, 4]) + 0.7 * st.t(3, 2, 0.5).pdf([-1, 0.5, 4])).tolist(),
    "randomWalk": [float(st.norm(0.2, 0.7).logpdf(walk[0]) + st.norm(0.1, 0.7).logpdf(np.diff(walk)).sum())],
    "autoregression": [float(autoregression())],
    "hiddenMarkov": [float(hmm(y5, [0.3, 0.7], [[0.9, 0.1], [0.4, 0.6]], [0.0, 1.0], 0.5))],
    "gp squaredExponential": [float(gp(2.25 * np.exp(-0.5 * (d / 0.8) ** 2)))],
    "gp matern 1/2": [float(gp(2.25 * np.exp(-d / 0.8)))],
    "gp matern 3/2": [float(gp(2.25 * (1 + s3) * np.exp(-s3)))],
    "gp matern 5/2": [float(gp(2.25 * (1 + s5 + s5 ** 2 / 3) * np.exp(-s5)))],
    "gp rationalQuadratic": [float(gp(2.25 * (1 + (d / 0.8) ** 2 / 3) ** -1.5))],
    "gp periodic": [float(gp(2.25 * np.exp(-2 * (np.sin(np.pi * d / 1.7) / 0.8) ** 2)))],
    "gp linear": [float(gp(2.25 * np.outer(x5 - 0.5, x5 - 0.5)))],
}
with open("vectors.json", "w") as f:
    f.write("{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in OUT.items()) + "\n}\n")
