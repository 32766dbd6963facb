"""Rows of CSV files and codings of them, for the measures of real tables."""
import csv
import gzip
from pathlib import Path

import numpy as np


class Rows:
    """Columns of a CSV file: numbers as float64, categories as text."""

    def __init__(self, names, columns, categorical):
        self.names, self.columns, self.categorical = names, columns, categorical
        self.count = len(columns[0])

    @staticmethod
    def read(path, categorical):
        path = Path(path)
        opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
        with opened as file:
            lines = csv.reader(file)
            names = next(lines)
            cells = list(zip(*lines))
        columns = [
            np.array(cell) if name in categorical else np.array([float(c or "nan") for c in cell])
            for name, cell in zip(names, cells)
        ]
        return Rows(names, columns, categorical)

    def take(self, index):
        return Rows(self.names, [c[index] for c in self.columns], self.categorical)

    def column(self, name):
        return self.columns[self.names.index(name)]

    def by(self, names):
        """The columns in the order of `names`."""
        return Rows(names, [self.column(name) for name in names], self.categorical)


def labels_of(tables, name):
    """The labels of a column in all tables, in order."""
    return sorted(set().union(*(set(t.column(name)) for t in tables)))


def coded(tables):
    """Numbers as they are, a category as the place of its label: for trees."""
    return [
        np.column_stack(
            [
                np.searchsorted(labels_of(tables, n), t.column(n)) if n in t.categorical else t.column(n)
                for n in t.names
            ]
        ).astype(np.float64)
        for t in tables
    ]


def one_hot(tables, of):
    """Numbers scaled to the range of the table `of`, a category as indicators."""

    def columns(t):
        for n in t.names:
            if n in t.categorical:
                labels = labels_of(tables, n)
                yield (t.column(n)[:, None] == np.array(labels)[None]).astype(np.float32)
            else:
                low, high = of.column(n).min(), of.column(n).max()
                yield ((t.column(n) - low) / ((high - low) or 1))[:, None].astype(np.float32)

    return [np.concatenate(list(columns(t)), 1) for t in tables]
