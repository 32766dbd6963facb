"""Writes tails.json: distribution functions of SciPy far out, at the ends, and cut.

python3 make_tails.py
"""
import json
import numpy as np
from scipy import stats as st

def row(d, x):
    x = [float(v) for v in x]
    return {"x": x, "cdf": [float(v) for v in d.cdf(x)], "survival": [float(v) for v in d.sf(x)]}

FAR = [1e-12, 1e-6, 1e-3, 0.3, 0.7, 1 - 1e-3, 1 - 1e-6]
CONTINUOUS = {
    "gamma 2.5": st.gamma(2.5),
    "gamma 0.1": st.gamma(0.1),
    "gamma 3000": st.gamma(3000),
    "beta 2.5 0.7": st.beta(2.5, 0.7),
    "beta 0.1 30": st.beta(0.1, 30),
    "beta 400 900": st.beta(400, 900),
    "student 1": st.t(1),
    "student 3.5": st.t(3.5),
    "student 80": st.t(80),
}
rows = {name: row(d, list(d.ppf(FAR)) + list(d.isf([1e-9, 1e-40][: 2 if "beta" not in name else 0]))) for name, d in CONTINUOUS.items()}
ENDS = {
    "gamma 2.5": row(st.gamma(2.5), [-1, 0, 1e300]),
    "beta 2.5 0.7": row(st.beta(2.5, 0.7), [-1, 0, 1, 2]),
    "student 3.5": row(st.t(3.5), [-1e200, 0, 1e200]),
    "poisson 3.7": row(st.poisson(3.7), [-1, -0.5, 0, 0.5, 2, 200]),
    "binomial 12 0.3": row(st.binom(12, 0.3), [-1, 0, 4.5, 11, 12, 13]),
    "successes 3.5 0.4": row(st.nbinom(3.5, 0.4), [-1, 0, 1, 60]),
}
g, b, t = st.gamma(2.5, 0, 1 / 4), st.beta(2.5, 0.7), st.t(3.5, 1, 2)
CUT = {
    "gamma between": float(g.logpdf(0.7) - np.log(g.cdf(1) - g.cdf(0.3))),
    "gamma above": float(g.logpdf(6) - g.logsf(5)),
    "beta below": float(b.logpdf(0.2) - b.logcdf(0.3)),
    "student above": float(t.logpdf(2) - t.logsf(0)),
    "gamma censored": float(g.logsf(1.5)),
}
with open("tails.json", "w") as f:
    json.dump({"far": rows, "ends": ENDS, "cut": CUT}, f, indent=1)
    f.write("\n")
