"""Writes scipy.json: log densities, distribution functions and moments of SciPy, for catalogue.ts.

python3 make_scipy.py
"""
import json
import numpy as np
import scipy
from scipy import stats as st

def nb(mean, dispersion):
    return st.nbinom(dispersion, dispersion / (mean + dispersion))

CASES = {
    "normal": st.norm(1.5, 0.7),
    "normal, far": st.norm(-1e3, 1e-2),
    "studentT": st.t(3.5, 1, 2),
    "studentT, near normal": st.t(400, 0, 1),
    "cauchy": st.cauchy(-1, 0.5),
    "laplace": st.laplace(2, 1.5),
    "logistic": st.logistic(-0.5, 0.8),
    "gumbel": st.gumbel_r(1, 2),
    "halfNormal": st.halfnorm(0, 2.5),
    "halfCauchy": st.halfcauchy(0, 2.5),
    "logNormal": st.lognorm(0.6, 0, np.exp(0.4)),
    "exponential": st.expon(0, 1 / 2.5),
    "gamma": st.gamma(2.5, 0, 1 / 4),
    "gamma, small shape": st.gamma(0.3, 0, 2),
    "chiSquared": st.chi2(5),
    "inverseGamma": st.invgamma(3.5, 0, 2),
    "weibull": st.weibull_min(1.7, 0, 2),
    "pareto": st.pareto(3.2, 0, 1.5),
    "uniform": st.uniform(-1, 4),
    "beta": st.beta(2.5, 0.7),
    "beta, of small counts": st.beta(0.4, 0.3),
    "vonMises": st.vonmises(1.3, 0),
    "vonMises, narrow": st.vonmises(250, 0),
    "bernoulli": st.bernoulli(0.3),
    "bernoulli, by its logit": st.bernoulli(1 / (1 + np.exp(-0.7))),
    "binomial": st.binom(12, 0.3),
    "binomial, of many": st.binom(1000, 0.42),
    "binomial, by its logit": st.binom(9, 1 / (1 + np.exp(0.4))),
    "poisson": st.poisson(3.7),
    "poisson, of many": st.poisson(250.5),
    "poisson, by its logarithm": st.poisson(np.exp(0.6)),
    "negativeBinomial, by its mean": nb(4.2, 1.7),
    "negativeBinomial, by the logarithm of its mean": nb(np.exp(1.1), 2.5),
    "negativeBinomial, by successes": st.nbinom(3.5, 0.4),
    "geometric": st.geom(0.3, -1),
    "betaBinomial": st.betabinom(10, 2.5, 1.5),
}

class HalfT:
    """|t| with 4.5 degrees of freedom and scale 1.5."""
    t = st.t(4.5, 0, 1.5)
    def ppf(self, u): return self.t.ppf((1 + np.asarray(u)) / 2)
    def cdf(self, x): return 2 * self.t.cdf(x) - 1
    def logpdf(self, x): return self.t.logpdf(x) + np.log(2)
    def mean(self): return None
    def var(self): return None

CASES["halfStudentT"] = HalfT()
LEVELS = [0.001, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999]

def finite(v):
    return float(v) if v is not None and np.isfinite(v) else None

def row(d):
    discrete = hasattr(d, "pmf") and isinstance(getattr(d, "dist", None), st.rv_discrete)
    x = sorted(set(float(v) for v in d.ppf(LEVELS)))
    logp = d.logpmf(x) if discrete else d.logpdf(x)
    return {
        "x": x,
        "logDensity": [float(v) for v in logp],
        "cdf": [float(v) for v in d.cdf(x)],
        "mean": finite(d.mean()),
        "variance": finite(d.var()),
    }

with open("scipy.json", "w") as f:
    cases = {name: row(d) for name, d in CASES.items()}
    body = ",\n".join(f"  {json.dumps(n)}: {json.dumps(c)}" for n, c in cases.items())
    f.write("{\n" + body + "\n}\n")
print(scipy.__version__)
