"""The data sets: what they hold, and that nothing is read unchecked."""

import hashlib
import os
from pathlib import Path

import jax
import numpy as np
import pooch
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from course_pkg import data, models


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


def test_breast_cancer_counts_the_malignant_ones():
    table, theirs = data.breast_cancer(), load_breast_cancer()
    assert np.allclose(table.x, theirs.data)
    malignant = np.asarray(theirs.target_names)[theirs.target] == "malignant"
    assert np.array_equal(table.y, malignant)


def test_eight_schools_fit_the_model():
    schools = data.schools()
    assert schools.sigma.tolist() == [15, 10, 16, 11, 9, 11, 10, 18]
    model = models.eight_schools()
    assert np.isfinite(models.log_joint(model, np.zeros(10, "float32"), schools))


# Two counties of Minnesota and one of Arizona, in the layout of the published files.
SURVEY = """idnum,state,state2,stfips,zip,region,typebldg,floor,room,basement,windoor,rep,stratum,wave,starttm,stoptm,\
startdt,stopdt,activity,pcterr,adjwt,dupflag,zipflag,cntyfips,county
    1,AZ,AZ, 4,85920, 1, 1, 1, 2,N, , 2, 4, 4, 930, 930,112987,120287,  0.3,  0.0,136.060971, 0, 0,  1,APACHE
 5081,MN,MN,27,55735, 5, 1, 1, 3,N, , 2, 2,41, 930, 930, 12088, 12288,  2.2,  9.7,1146.499190, 1, 0,  1,AITKIN
 5082,MN,MN,27,55748, 5, 1, 0, 4,Y, , 5, 2,40,1615,1615, 11888, 12088,  2.2, 14.5, 471.366223, 0, 0,  1,AITKIN
 5085,MN,MN,27,55797, 5, 1, 0, 4,Y, , 3, 2,40,1300,1300, 11888, 12188,  0.0,  3.4, 433.316718, 0, 0,  3,ANOKA
"""
LAND = """"stfips","ctfips","st","cty","lon","lat","Uppm"
"04","001","AZ","APACHE",-109.49,35.64,1.48
"27","001","MN","AITKIN",-93.415,46.608,.502054
"27","003","MN","ANOKA",-93.246,45.273,.428565
"27","003","MN","ANOKA",-93.246,45.273,.9
"""


def test_the_published_files_are_read_as_the_local_table_is(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    (tmp_path / "srrs2.dat").write_text(SURVEY)
    (tmp_path / "cty.dat").write_text(LAND)
    monkeypatch.setattr(data, "_download", lambda address, sha256, instead: tmp_path / address.rsplit("/", 1)[1])
    published = data.radon()
    table = "county,floor,activity,uppm\nAITKIN,1,2.2,0.502054\nAITKIN,0,2.2,0.502054\nANOKA,0,0.0,0.428565\n"
    (tmp_path / "radon_mn.csv").write_text(table)
    monkeypatch.setattr(data, "RADON_TABLE", ("radon_mn.csv", hashlib.sha256(table.encode()).hexdigest()))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    local = data.radon()
    assert jax.tree.all(jax.tree.map(np.array_equal, published._replace(counties=()), local._replace(counties=())))
    assert published.counties == local.counties == ("AITKIN", "ANOKA")
    assert local.houses.group.tolist() == [0, 0, 1]
    assert np.allclose(local.houses.x, [[np.log(0.502054), 1], [np.log(0.502054), 0], [np.log(0.428565), 0]])
    assert np.allclose(local.houses.y, np.log([2.3, 2.3, 0.1]))
    assert (len(local.train.y), len(local.test.y)) == (2, 1)


def test_without_a_copy_and_a_connection_radon_says_what_to_do(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)

    def offline(*args, **kwargs):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(ValueError, match=r"could not be downloaded \(ConnectionError\).*set COURSE_DATA.*radon_simulated"):
        data.radon()


def test_a_downloaded_file_is_checked(tmp_path, monkeypatch):
    asked = {}

    def retrieve(address, known_hash, path):
        asked[address] = known_hash
        return str(tmp_path / "file")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert data._download("https://example.org/file", "ab" * 32, "radon_simulated") == tmp_path / "file"
    assert asked == {"https://example.org/file": "sha256:" + "ab" * 32}


def test_the_real_radon_houses():
    folder = os.environ.get("COURSE_DATA")
    if folder is None or not (Path(folder) / "radon_mn.csv").is_file():
        pytest.skip("COURSE_DATA holds no radon_mn.csv")
    houses = data.radon()
    assert (len(houses.houses.y), len(houses.train.y), len(houses.test.y), len(houses.counties)) == (919, 460, 459, 85)
    assert not houses.simulated
    assert houses.counties[0] == "AITKIN"
    uranium, county = np.asarray(houses.houses.x[:, 0]), np.asarray(houses.houses.group)
    for group in range(85):  # uranium is a county's
        assert len(np.unique(uranium[county == group])) == 1
    assert float(houses.houses.y.mean()) == pytest.approx(1.26, abs=0.01)


def test_made_up_houses_say_so_and_fit_the_model():
    made_up = data.radon_simulated(jax.random.key(0))
    assert made_up.simulated
    assert jax.tree.all(jax.tree.map(np.array_equal, made_up.houses, data.radon_simulated(jax.random.key(0)).houses))
    assert not np.array_equal(made_up.houses.y, data.radon_simulated(jax.random.key(1)).houses.y)
    assert sorted(np.unique(made_up.houses.group)) == list(range(85))
    model = models.hierarchical_regression(85, 2)
    theta = np.zeros(model.dim, "float32")
    parts = [float(model.log_likelihood(theta, part)) for part in (made_up.houses, made_up.train, made_up.test)]
    assert parts[0] == pytest.approx(parts[1] + parts[2], rel=1e-5)


PUBLISHED_COUNTRIES = """isocode,isonum,country,rugged,rgdppc_1950_m,rgdppc_2000,cont_africa,cont_asia
"ABW",533,"Aruba",0.462,,,0,0
"AGO",24,"Angola",0.858,1051.822,1794.729,1,0
"CIV",384,"Côte d'Ivoire",0.224,1040.878,1575.628,1,0
"DMA",212,"Dominica",0.003,,5931.715,0,0
"""
LOCAL_COUNTRIES = """isocode,country,cont_africa,rugged,rgdppc_2000
ABW,Aruba,0,0.462,
AGO,Angola,1,0.858,1794.729
CIV,Côte d'Ivoire,1,0.224,1575.628
DMA,Dominica,0,0.003,5931.715
"""


def test_the_published_countries_are_read_as_the_local_ones_are(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    (tmp_path / "published.csv").write_bytes(PUBLISHED_COUNTRIES.encode("latin-1"))
    monkeypatch.setattr(data, "_download", lambda address, sha256, instead: tmp_path / "published.csv")
    published = data.ruggedness()
    (tmp_path / "rugged_gdp.csv").write_text(LOCAL_COUNTRIES, encoding="utf-8")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.setattr(data, "RUGGED_TABLE", ("rugged_gdp.csv", hashlib.sha256(LOCAL_COUNTRIES.encode()).hexdigest()))
    local = data.ruggedness()
    assert published.countries == local.countries == ("Angola", "Côte d'Ivoire", "Dominica")
    assert jax.tree.all(jax.tree.map(np.array_equal, published.rows, local.rows))
    assert np.allclose(local.rows.x, [[1, 1, 0.858, 0.858], [1, 1, 0.224, 0.224], [1, 0, 0.003, 0]])
    assert np.allclose(local.rows.y, np.log([1794.729, 1575.628, 5931.715]))


def test_without_a_copy_and_a_connection_ruggedness_says_what_to_do(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)

    def offline(*args, **kwargs):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(ValueError, match=r"could not be downloaded \(ConnectionError\).*set COURSE_DATA.*ruggedness_simulated"):
        data.ruggedness()


def test_the_real_countries():
    folder = os.environ.get("COURSE_DATA")
    if not folder or not (Path(folder) / data.RUGGED_TABLE[0]).is_file():
        pytest.skip("COURSE_DATA holds no rugged_gdp.csv")
    countries = data.ruggedness()
    x = np.asarray(countries.rows.x)
    assert not countries.simulated
    assert (x.shape, len(countries.countries), int(x[:, 1].sum())) == ((170, 4), 170, 49)
    assert (x[:, 2].min(), x[:, 2].max()) == pytest.approx((0.003, 6.202))
    assert float(countries.rows.y.mean()) == pytest.approx(8.517, abs=1e-3)
    slope = np.linalg.lstsq(x, np.asarray(countries.rows.y), rcond=None)[0]
    assert slope[2] < 0 < slope[2] + slope[3]  # rugged land goes with less outside Africa and with more in it


def test_made_up_countries_say_so_and_look_alike():
    made_up = data.ruggedness_simulated(jax.random.key(0))
    assert made_up.simulated
    assert jax.tree.all(jax.tree.map(np.array_equal, made_up.rows, data.ruggedness_simulated(jax.random.key(0)).rows))
    assert not np.array_equal(made_up.rows.y, data.ruggedness_simulated(jax.random.key(1)).rows.y)
    assert np.allclose(made_up.rows.x[:, 3], made_up.rows.x[:, 1] * made_up.rows.x[:, 2])
    assert float(made_up.rows.y.mean()) == pytest.approx(8.5, abs=0.5)
    assert float(made_up.rows.y.std()) == pytest.approx(1.16, abs=0.3)


def test_lastfm_is_the_published_table_and_split(monkeypatch, tmp_path):
    folder = os.environ.get("COURSE_DATA")
    if not folder or not (Path(folder) / data.LASTFM_TABLE[0]).is_file():
        pytest.skip("the Last.fm table is not at hand")
    listening = data.lastfm()
    table = listening.table
    assert not listening.simulated
    assert table.value.shape == (992, 100)
    assert float(table.value.mean()) == pytest.approx(1.2017, abs=1e-4)
    assert int((~table.seen).sum()) == 49_426
    # the downloaded file, more columns and all, is read alike
    counts = np.rint(np.expm1(np.asarray(table.value, dtype=float)))
    np.savetxt(tmp_path / "lastfm_data.csv", np.hstack([counts, counts[:, :3]]), delimiter=",", fmt="%.1f")
    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.setattr(data, "_download", lambda address, sha256, instead: tmp_path / address.rsplit("/", 1)[1])
    assert np.allclose(data.lastfm().table.value, table.value, atol=1e-5)


def test_lastfm_falls_back_in_plain_sight(monkeypatch):
    def offline(address, sha256, instead):
        raise ValueError("no connection") from OSError("no connection")

    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(data, "_download", offline)
    with pytest.warns(UserWarning, match="MADE UP"):
        listening = data.lastfm()
    assert listening.simulated
    assert 0.5 < float((listening.table.value == 0).mean()) < 0.65


def test_lastfm_does_not_fall_back_on_a_wrong_checksum(monkeypatch):
    def wrong(address, sha256, instead):
        raise ValueError("the hash does not match")

    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(data, "_download", wrong)
    with pytest.raises(ValueError, match="hash does not match"):
        data.lastfm()


def test_corn_is_split_by_turns(monkeypatch, tmp_path):
    rng = np.random.default_rng(3)
    table = np.column_stack([np.arange(80), rng.normal(size=(80, 3)), 60 + np.arange(80), rng.normal(size=(80, 700))])
    header = ",".join(["sample", "moisture", "oil", "protein", "starch", *(f"nm{1100 + 2 * k}" for k in range(700))])
    np.savetxt(tmp_path / "corn_mp5.csv.gz", table, delimiter=",", header=header, comments="")
    content = (tmp_path / "corn_mp5.csv.gz").read_bytes()
    monkeypatch.setattr(data, "CORN_TABLE", ("corn_mp5.csv.gz", hashlib.sha256(content).hexdigest()))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    corn = data.corn()
    assert not corn.simulated
    assert corn.train.y.tolist() == list(range(61, 140, 2))
    assert corn.test.y.tolist() == list(range(60, 140, 2))
    assert np.allclose(corn.train.x, table[1::2, 5:], rtol=1e-6)
    assert np.allclose(corn.test.x, table[0::2, 5:], rtol=1e-6)


def test_the_real_corn():
    folder = os.environ.get("COURSE_DATA")
    if not folder or not (Path(folder) / data.CORN_TABLE[0]).is_file():
        pytest.skip("COURSE_DATA holds no corn_mp5.csv.gz")
    corn = data.corn()
    assert (corn.train.x.shape, corn.test.x.shape) == ((40, 700), (40, 700))
    assert float(corn.test.y[0]) == pytest.approx(64.838)  # the first sample of the file
    assert float(corn.train.x[0, 0]) == pytest.approx(-0.0141888)
    assert np.abs(np.diff(corn.train.x, axis=1)).max() < 0.02  # spectra are smooth


def test_without_a_copy_corn_says_what_to_do(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    with pytest.raises(ValueError, match=r"corn_mp5\.csv\.gz; set COURSE_DATA.*corn_simulated"):
        data.corn()


def test_made_up_corn_says_so_and_can_be_learnt():
    made_up = data.corn_simulated(jax.random.key(0))
    assert made_up.simulated
    assert np.array_equal(made_up.train.y, data.corn_simulated(jax.random.key(0)).train.y)
    assert not np.array_equal(made_up.train.y, data.corn_simulated(jax.random.key(1)).train.y)
    x, y = np.asarray(made_up.train.x, float), np.asarray(made_up.train.y, float)
    weights = np.linalg.lstsq(x - x.mean(axis=0), y - y.mean(), rcond=1e-3)[0]
    off = np.asarray(made_up.test.y) - y.mean() - (np.asarray(made_up.test.x) - x.mean(axis=0)) @ weights
    assert off.std() < 0.5 * np.asarray(made_up.test.y).std()
