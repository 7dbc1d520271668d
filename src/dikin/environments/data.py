"""Real rows, from data included in scikit-learn: nothing is downloaded.

Columns are standardised and replaced by their first principal components, each with mean 0 and
variance 1, so that no direction is flat merely because of a unit or of two equivalent columns. The
remaining variation of the curvature is due to the batches.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from dikin.arguments import whole
from dikin.domains.base import Array, frozen
from dikin.errors import MissingExtraError, ParameterError


class Rows(NamedTuple):
    """What was known about each case, and its outcome.

    Parameters
    ----------
    contexts : numpy.ndarray
        A row for each case: its first principal components, each of mean 0 and variance 1.
    targets : numpy.ndarray
        A number for each case.
    """

    contexts: Array
    targets: Array


def diabetes(dimension: int = 3) -> Rows:
    """442 patients: ten measurements, and the progression of the disease a year later.

    Parameters
    ----------
    dimension : int, default 3
        How many principal components of the measurements to keep, from 1 to 10.

    Returns
    -------
    Rows
        Targets have mean 0 and variance 1.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed: `pip install 'dikin[data]'`.

    References
    ----------
    Efron, Hastie, Johnstone and Tibshirani, "Least Angle Regression", Annals of Statistics 2004.

    Examples
    --------
    >>> rows = diabetes(3)
    >>> rows.contexts.shape, rows.targets.shape
    ((442, 3), (442,))
    """
    table, targets = _load("load_diabetes", scaled=False)
    return Rows(whitened(table, dimension), standardised(targets))


def breast_cancer(dimension: int = 3) -> Rows:
    """569 tumours: thirty measurements of an image, and whether they were benign.

    Parameters
    ----------
    dimension : int, default 3
        How many principal components of the measurements to keep, from 1 to 30.

    Returns
    -------
    Rows
        Targets are 1 for benign and -1 for malignant.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed: `pip install 'dikin[data]'`.

    References
    ----------
    Wolberg, Mangasarian, Street and Street, "Breast Cancer Wisconsin (Diagnostic)", 1995.

    Examples
    --------
    >>> rows = breast_cancer(3)
    >>> rows.contexts.shape, sorted(set(rows.targets.tolist()))
    ((569, 3), [-1.0, 1.0])
    """
    table, benign = _load("load_breast_cancer")
    return Rows(whitened(table, dimension), 2.0 * benign - 1.0)


def standardised(table: Array) -> Array:
    """Columns of mean 0 and variance 1.

    Parameters
    ----------
    table : numpy.ndarray
        A row for each case, no column of which is constant; or one column.

    Returns
    -------
    numpy.ndarray
        A new table of the same shape.
    """
    return np.asarray((table - table.mean(axis=0)) / table.std(axis=0))


def whitened(table: Array, dimension: int) -> Array:
    """The first principal components of the standardised columns, each of variance 1.

    Parameters
    ----------
    table : numpy.ndarray
        A row for each case, no column of which is constant.
    dimension : int
        How many components to keep; at most the number of columns.

    Returns
    -------
    numpy.ndarray
        A row for each case and a column for each component.

    Raises
    ------
    ParameterError
        If `dimension` is not positive, or more than there are columns.
    """
    count = whole(dimension, "dimension", 1, "a prediction needs a column")
    if count > table.shape[1]:
        raise ParameterError(
            f"dimension must be at most {table.shape[1]}, the number of columns, got {count}"
        )
    columns = standardised(table)
    variances, loadings = np.linalg.eigh(columns.T @ columns / len(columns))
    variances, loadings = variances[::-1][:count], loadings[:, ::-1][:, :count]
    # The signs of eigenvectors are the solver's choice: make the largest loading positive.
    largest = loadings[np.abs(loadings).argmax(axis=0), np.arange(count)]
    return np.asarray(columns @ (loadings * np.sign(largest)) / np.sqrt(variances))


@cache
def _load(name: str, **options: bool) -> tuple[Array, Array]:
    try:
        from sklearn import datasets
    except ImportError as reason:
        raise MissingExtraError(
            "the data sets come with scikit-learn, which is not installed: "
            "pip install 'dikin[data]'"
        ) from reason
    table, targets = getattr(datasets, name)(return_X_y=True, **options)
    return frozen(table, "the table", 2), frozen(targets, "the targets", 1)
