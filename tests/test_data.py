"""The data sets: what they hold, and that nothing is read unchecked."""

import hashlib

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from course_pkg import data


def test_diabetes_is_scikit_learns():
    table = data.diabetes()
    theirs = load_diabetes(scaled=False)
    assert np.allclose(table.x, theirs.data)
    assert np.allclose(table.y, theirs.target)
    assert table.names == tuple(theirs.feature_names)


def test_local_reads_only_what_the_checksum_vouches_for(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    assert data.local("a.csv", "0" * 64) is None
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert data.local("a.csv", "0" * 64) is None
    (tmp_path / "a.csv").write_text("1,2\n")
    right = hashlib.sha256(b"1,2\n").hexdigest()
    assert data.local("a.csv", right) == tmp_path / "a.csv"
    with pytest.raises(ValueError, match=r"checksum .* replace it"):
        data.local("a.csv", "0" * 64)


def test_standardised_columns():
    z, mean, sd = data.standardised(np.random.default_rng(0).gamma(2.0, size=(200, 3)))
    assert np.allclose(z.mean(0), 0, atol=1e-6)
    assert np.allclose(z.std(0), 1, atol=1e-5)
    assert mean.shape == sd.shape == (3,)
    with pytest.raises(ValueError, match="column 1 of x is constant"):
        data.standardised(np.array([[1.0, 2.0], [3.0, 2.0]]))
