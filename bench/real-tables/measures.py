"""Measures of real tables, as `npm run bench -- real-tables` calls them.

Reads one task per line from standard input as JSON and answers each with one line of JSON. `mixed`
and `small` compare synthetic rows with real ones, `impute` completed rows with the true ones, and
`versions` names what is installed. Needs NumPy, SciPy, scikit-learn, XGBoost and POT (Debian:
python3-sklearn python3-xgboost python3-pot).
"""
import json
import sys

import numpy
import ot
import scipy
import sklearn
import xgboost
from mixed import mixed
from small import impute, small


def versions(_):
    return {m.__name__: m.__version__ for m in (numpy, scipy, sklearn, xgboost, ot)}


tasks = {f.__name__: f for f in (mixed, small, impute, versions)}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = tasks[asked["task"]](asked)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
