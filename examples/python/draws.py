"""Reads the draws of `diffeo infer` into ArviZ.

    diffeo infer model.mjs --data data.json --out draws
    pip install arviz
    python draws.py draws
"""
import sys

import arviz

folder = sys.argv[1]
posterior = arviz.from_json(f"{folder}/draws.json")
print(arviz.summary(posterior))
