"""The data sets of the course: local first, checked, never silently replaced.

What a library ships is taken from it. Files are looked for in the folder that the variable ``COURSE_DATA`` names, else downloaded where
their authors keep them; either way their checksums are compared before they are read.
"""

import csv
import hashlib
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg._extras import needs
from course_pkg.models import Grouped, Rows, Schools, TableRows

RADON_TABLE = ("radon_mn.csv", "773323c4a3707ba8271b7dbed657932ba38bdc68ca02cb4e61bac423dc38f6af")
RADON_PUBLISHED = {
    "srrs2.dat": "17b11e80f3d22e2a30b283acc83c2cb7e400b96e4a70188dfe4eb3df36f184cb",
    "cty.dat": "6a02f8e28a0afce93701dd7136761b317e0b331742663b27655ae13c217e9629",
}
RADON_ADDRESS = "https://raw.githubusercontent.com/tkusmierczyk/correcting_approximate_bayesian_predictions/842e1d31b9b65fdba9a4e56a65a42d03cb5c6c3e/data/"

RUGGED_TABLE = ("rugged_gdp.csv", "fa74417c0e9d0bd306c9f26d8596d5af5f8802ce2fd3d2ffc432dad21aff7845")
RUGGED_PUBLISHED = (
    "https://raw.githubusercontent.com/pyro-ppl/brmp/683d56215069545e675ade60b592a7a34358e712/brmp/examples/rugged_data.csv",
    "feaeaf89a8dd7981a80666ae0599660ae4f0dc3b5540fc4e1b48b17a3b09b551",
)

CORN_TABLE = ("corn_mp5.csv.gz", "da9e41c4061d872bcdcb0a6fd50b605f8ba77cec2eb6f1f34695faa26a70bd2b")

LASTFM_TABLE = ("lastfm_top100_counts.csv.gz", "6b7b9eb6b8cca870330701488f5bf349c41318383e1ba85d701cffd98544316e")
LASTFM_PUBLISHED = (
    "https://raw.githubusercontent.com/tkusmierczyk/lcvi/c8d63ba527dbec96af84b693287d1bd7d41c503e/data/lastfm_data.csv",
    "0d99125183e22b56a6f787e09c8af5cd4a9787dab8f73293610eb0ea70b1b42b",
)
LASTFM_SHAPE = (992, 100)


class Table(NamedTuple):
    """Covariates and an outcome, with their names and units."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]
    names: tuple[str, ...]
    unit: str  # of y


def diabetes() -> Table:
    """442 patients: age, sex, body mass, blood pressure and six blood measurements, and how far the disease went in a year.

    The covariates are in their own units. The set ships with scikit-learn, so nothing is downloaded.

    Example:
        >>> table = diabetes()
        >>> table.x.shape, table.names[2], float(table.y.min())
        ((442, 10), 'bmi', 25.0)

    Source: Efron, Hastie, Johnstone and Tibshirani (2004).
    """
    bunch = needs("sklearn.datasets", "data").load_diabetes(scaled=False)
    return Table(jnp.asarray(bunch.data), jnp.asarray(bunch.target), tuple(bunch.feature_names), "disease progression score")


class Radon(NamedTuple):
    """Radon in houses of Minnesota, ready for `hierarchical_regression`."""

    houses: Grouped  # all; x holds the log of the county's uranium (ppm) and the floor; y is log(activity in pCi/L + 0.1)
    train: Grouped  # every other house, from the first on
    test: Grouped  # the rest
    is_train: Bool[Array, " n"]
    counties: tuple[str, ...]  # by group number
    simulated: bool  # whether these are made-up houses


def breast_cancer() -> Table:
    """569 breast tumours: thirty measurements of cell nuclei, and whether the tumour was malignant (1) or benign (0).

    The set ships with scikit-learn, so nothing is downloaded; there, 0 stands for malignant.

    Example:
        >>> table = breast_cancer()
        >>> table.x.shape, int(table.y.sum())
        ((569, 30), 212)

    Source: Street, Wolberg and Mangasarian (1993).
    """
    bunch = needs("sklearn.datasets", "data").load_breast_cancer()
    malignant = jnp.asarray(1.0 - bunch.target)
    return Table(jnp.asarray(bunch.data), malignant, tuple(str(name) for name in bunch.feature_names), "1 malignant, 0 benign")


def schools() -> Schools:
    """Estimated effects of coaching on a test score in eight schools, and their standard errors, in points.

    Example:
        >>> schools().y.tolist()
        [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]

    Source: Rubin (1981).
    """
    return Schools(jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]), jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]))


def radon() -> Radon:
    """Radon activity in 919 houses of 85 counties of Minnesota: where it was measured, and the county's uranium.

    Local first: ``radon_mn.csv`` in the folder that ``COURSE_DATA`` names; else the two published files are downloaded once.

    Raises:
        ValueError: if a checksum is wrong, or there is neither a local copy nor a connection.

    Source: Gelman and Hill (2007), files ``srrs2.dat`` and ``cty.dat``; the split of the post-hoc paper.
    """
    path = local(*RADON_TABLE)
    if path is not None:
        with path.open(newline="") as lines:
            rows = [(row["county"], row["floor"], row["activity"], row["uppm"]) for row in csv.DictReader(lines)]
    else:
        rows = _published_radon()
    county, floor, activity, uranium = zip(*rows, strict=True)
    counties = tuple(dict.fromkeys(county))
    group = np.array([counties.index(name) for name in county])
    x = np.column_stack([np.log(np.array(uranium, dtype=float)), np.array(floor, dtype=float)])
    return _radon(group, x, np.log(np.array(activity, dtype=float) + 0.1), counties, simulated=False)


def radon_simulated(key: PRNGKeyArray) -> Radon:
    """919 made-up houses in 85 made-up counties, from `hierarchical_regression` itself: for want of the real ones, and never in their name.

    Example:
        >>> made_up = radon_simulated(jax.random.key(0))
        >>> made_up.simulated, made_up.houses.x.shape, len(made_up.counties)
        (True, (919, 2), 85)
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(_guard.key(key))).ravel())
    size = 1 + rng.multinomial(919 - 85, rng.dirichlet(np.full(85, 0.6)))
    group = np.repeat(np.arange(85), size)
    x = np.column_stack([rng.normal(0.0, 0.35, 85)[group], rng.random(919) < 1 / 6])
    a = rng.normal(1.5, 0.2, 85)
    y = a[group] + x @ [0.7, -0.65] + rng.normal(0.0, 0.75, 919)
    return _radon(group, x, y, tuple(f"MADE-UP COUNTY {number}" for number in range(85)), simulated=True)


class Ruggedness(NamedTuple):
    """How rugged the land is and how rich the people, ready for a linear regression."""

    rows: Rows  # x holds 1, Africa (0 or 1), ruggedness and their product; y is the log of real GDP per head in 2000, in dollars
    names: tuple[str, ...]  # of the columns of x
    countries: tuple[str, ...]
    simulated: bool  # whether these are made-up countries


def ruggedness() -> Ruggedness:
    """Terrain ruggedness and GDP per head of the 170 countries where both are known, 49 of them in Africa.

    The ruggedness index is as published, from 0.003 to 6.202 (hundreds of metres between neighbouring places). Local first:
    ``rugged_gdp.csv`` in the folder that ``COURSE_DATA`` names; else the published table is downloaded once.

    Raises:
        ValueError: if a checksum is wrong, or there is neither a local copy nor a connection.

    Source: Nunn and Puga (2012).
    """
    path = local(*RUGGED_TABLE) or _download(*RUGGED_PUBLISHED, "ruggedness_simulated")
    text = path.read_bytes()
    try:
        lines = text.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        lines = text.decode("latin-1").splitlines()
    known = [row for row in csv.DictReader(lines) if row["rgdppc_2000"]]
    africa, index, gdp = (np.array([float(row[name]) for row in known]) for name in ("cont_africa", "rugged", "rgdppc_2000"))
    return _ruggedness(africa, index, np.log(gdp), tuple(row["country"] for row in known), simulated=False)


def ruggedness_simulated(key: PRNGKeyArray) -> Ruggedness:
    """170 made-up countries, 49 of them in a made-up Africa, about as rugged and as rich: for want of the real ones, not in their name.

    Example:
        >>> made_up = ruggedness_simulated(jax.random.key(0))
        >>> made_up.simulated, made_up.rows.x.shape, int(made_up.rows.x[:, 1].sum())
        (True, (170, 4), 49)
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(_guard.key(key))).ravel())
    africa = rng.permutation(np.arange(170) < 49).astype(float)
    index = np.minimum(rng.gamma(1.3, 1.03, 170), 6.2)
    log_gdp = 9.2 - 1.9 * africa - 0.2 * index + 0.4 * africa * index + rng.normal(0.0, 0.93, 170)
    return _ruggedness(africa, index, log_gdp, tuple(f"made-up country {number}" for number in range(170)), simulated=True)


def _ruggedness(africa, index, log_gdp, countries, *, simulated) -> Ruggedness:
    x = np.column_stack([np.ones_like(index), africa, index, africa * index])
    return Ruggedness(Rows(jnp.asarray(x), jnp.asarray(log_gdp)), ("1", "Africa", "ruggedness", "both"), countries, simulated)


class Corn(NamedTuple):
    """Samples of corn: near-infrared spectra and the starch in them, split as in the post-hoc paper."""

    train: Rows  # every other sample, from the second on; x holds 700 readings, y the starch in per cent
    test: Rows  # the rest
    simulated: bool  # whether this is made-up corn


def corn() -> Corn:
    """Starch in 80 samples of corn, and what the instrument mp5 reads of them at 700 wavelengths from 1100 to 2498 nm.

    Local only: ``corn_mp5.csv.gz`` in the folder that ``COURSE_DATA`` names, made from the published file.

    Raises:
        ValueError: if the checksum is wrong, or there is no local copy.

    Source: Cargill's samples, distributed by Eigenvector Research, https://eigenvector.com/data/Corn.
    """
    path = local(*CORN_TABLE)
    if path is None:
        raise ValueError(
            f"there is no {CORN_TABLE[0]}; set COURSE_DATA to a folder that holds it. data.corn_simulated(key) makes up data of the same "
            "shape"
        )
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return _corn(table[:, 5:], table[:, 4], simulated=False)


def corn_simulated(key: PRNGKeyArray) -> Corn:
    """80 made-up samples with smooth made-up spectra that starch leaves a trace in: for want of the real ones, not in their name.

    Example:
        >>> made_up = corn_simulated(jax.random.key(0))
        >>> made_up.simulated, made_up.train.x.shape, made_up.test.y.shape
        (True, (40, 700), (40,))
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(_guard.key(key))).ravel())
    place = np.linspace(0, 1, 700)
    shapes = np.stack([np.exp(-0.5 * ((place - centre) / 0.12) ** 2) for centre in np.linspace(0, 1, 6)])
    amounts = rng.normal(size=(80, 6))
    starch = 64.7 + 0.6 * amounts[:, 2] - 0.5 * amounts[:, 4] + 0.2 * rng.normal(size=80)
    return _corn(0.4 * place + 0.02 * amounts @ shapes, starch, simulated=True)


def _corn(x, y, *, simulated) -> Corn:
    train, test = (Rows(jnp.asarray(x[start::2], dtype=float), jnp.asarray(y[start::2], dtype=float)) for start in (1, 0))
    return Corn(train, test, simulated)


class Listening(NamedTuple):
    """Who listened to whom, how often: log(1 + plays) of the 100 most played artists, split cell by cell."""

    table: TableRows  # listeners in rows, artists in columns; `seen` cells are for training, the others for testing
    simulated: bool  # whether these are made-up listeners


def lastfm() -> Listening:
    """Plays of the 100 most played artists by 992 listeners of Last.fm, as log(1 + plays), half of the cells hidden for testing.

    Local first: ``lastfm_top100_counts.csv.gz`` in the folder that ``COURSE_DATA`` names; else the published table is downloaded once; else
    `lastfm_simulated` takes its place, with a warning: look at ``simulated``, and say so beside every result. The split is the one of the
    published runs. The data are distributed with permission of Last.fm for non-commercial use.

    Raises:
        ValueError: if a checksum is wrong.

    Source: Celma (2010), the Last.fm 1K users; the table of the LCVI paper's code.
    """
    path = local(*LASTFM_TABLE)
    if path is None:
        try:
            path = _download(*LASTFM_PUBLISHED, "lastfm_simulated")
        except ValueError as problem:
            if isinstance(problem.__cause__, OSError):
                warnings.warn(
                    "the Last.fm table could not be had: these listeners are MADE UP; connect once or set COURSE_DATA", stacklevel=2
                )
                return lastfm_simulated(jax.random.key(0))
            raise
    counts = np.loadtxt(path, delimiter=",", usecols=range(LASTFM_SHAPE[1]))[: LASTFM_SHAPE[0]]
    return Listening(_listening(np.log1p(counts)), simulated=False)


def lastfm_simulated(key: PRNGKeyArray) -> Listening:
    """992 made-up listeners of 100 made-up artists, about as many zeros and as wide a spread: for want of the real ones, not in their name.

    Example:
        >>> made_up = lastfm_simulated(jax.random.key(0))
        >>> made_up.simulated, made_up.table.value.shape
        (True, (992, 100))
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(_guard.key(key))).ravel())
    rows, columns = LASTFM_SHAPE
    taste = rng.normal(0.0, 0.55, (rows, 10)) @ rng.normal(0.0, 0.55, (10, columns))
    level = rng.normal(-0.4, 1.0, (rows, 1)) + rng.normal(0.0, 0.6, (1, columns)) + 1.3 * taste + rng.normal(0.0, 1.3, LASTFM_SHAPE)
    plays = rng.poisson(np.exp(np.clip(1.4 * level, None, 8.0)) * (level > 0.0))
    return Listening(_listening(np.log1p(plays)), simulated=True)


def _listening(value) -> TableRows:
    hidden = np.random.RandomState(123).choice([0, 1], LASTFM_SHAPE) == 1
    return TableRows(jnp.arange(len(value)), jnp.asarray(value, dtype=float), jnp.asarray(~hidden))


def _radon(group, x, y, counties, *, simulated) -> Radon:
    houses = Grouped(jnp.asarray(group), jnp.asarray(x, dtype=float), jnp.asarray(y, dtype=float))
    train, test = (jax.tree.map(lambda a, start=start: a[start::2], houses) for start in (0, 1))
    return Radon(houses, train, test, jnp.arange(len(group)) % 2 == 0, counties, simulated)


def _published_radon():
    """County, floor, activity and uranium of the houses in Minnesota, from the survey's own two files."""
    survey, land = (_read_table(_download(RADON_ADDRESS + name, sha256, "radon_simulated")) for name, sha256 in RADON_PUBLISHED.items())
    uranium: dict[int, str] = {}
    for row in land:
        uranium.setdefault(1000 * int(row["stfips"]) + int(row["ctfips"]), row["Uppm"])
    houses = {row["idnum"]: row for row in survey if row["state"] == "MN"}
    return [
        (row["county"], row["floor"], row["activity"], uranium[1000 * int(row["stfips"]) + int(row["cntyfips"])]) for row in houses.values()
    ]


def _read_table(path):
    with path.open(newline="") as lines:
        rows = csv.reader(lines, skipinitialspace=True)
        header = [name.strip() for name in next(rows)]
        return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows if row]


def _download(address: str, sha256: str, instead: str) -> Path:
    pooch = needs("pooch", "data")
    pooch.get_logger().setLevel("WARNING")
    try:
        return Path(pooch.retrieve(address, known_hash=f"sha256:{sha256}", path=pooch.os_cache("deciding-with-approximations")))
    except OSError as problem:
        raise ValueError(
            f"{address} could not be downloaded ({type(problem).__name__}); connect once, or set COURSE_DATA to a folder with the data "
            f"files. data.{instead}(key) makes up data of the same shape"
        ) from problem


def local(name: str, sha256: str) -> Path | None:
    """The file ``name`` in the folder that ``COURSE_DATA`` names, or None where there is no such folder or file.

    Raises:
        ValueError: if the file is there and its checksum is not ``sha256``.
    """
    folder = os.environ.get("COURSE_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.is_file():
        return None
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise ValueError(f"{path} has checksum {found[:12]}..., not {sha256[:12]}...; replace it, or unset COURSE_DATA")
    return path


def standardised(x):
    """Each column of ``x`` with mean 0 and standard deviation 1, together with the means and deviations it had.

    Raises:
        ValueError: if a column does not vary.

    Example:
        >>> z, mean, sd = standardised(np.array([[1.0], [3.0]]))
        >>> z.ravel().tolist(), mean.tolist(), sd.tolist()
        ([-1.0, 1.0], [2.0], [1.0])
    """
    x = np.asarray(_guard.numbers("x", x, ndim=2), dtype=float)
    mean, sd = x.mean(axis=0), x.std(axis=0)
    if (sd == 0).any():
        raise ValueError(f"column {int(np.flatnonzero(sd == 0)[0])} of x is constant; drop it, an intercept says the same")
    return jnp.asarray((x - mean) / sd), jnp.asarray(mean), jnp.asarray(sd)
