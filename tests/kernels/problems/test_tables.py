"""Files as packages, spreadsheets and pandas write them; a few rows in each format stand for the classic data sets."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field

import numpy as np
import pytest

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels.problems.data import load_data
from cflag_theory.kernels.problems.table import number

IRIS = "sepal_length,petal_width,species\n5.1,0.2,setosa\n4.9,0.3,setosa\n7.0,1.4,versicolor\n6.3,2.5,virginica\n"
PENGUINS = (
    "species,island,bill,mass,sex\nAdelie,Torgersen,39.1,3750,male\nAdelie,Biscoe,NA,NA,NA\n"
    "Gentoo,Biscoe,46.1,4500,female\nChinstrap,Dream,50,3900,male\n"
)
EUROPEAN = '"";"weight";"height";"group"\n"1";1,5;10,25;"ctrl"\n"2";2,5;11,5;"trt"\n"3";3,5;9,75;"ctrl"\n'


@dataclass(frozen=True)
class File:
    """What a file has, the label that is proposed or given, and what must be read."""

    content: bytes
    label: str
    names: tuple[str, ...]
    first: tuple[float, ...]
    said: tuple[str, ...] = ()
    suffix: str = ".csv"
    given: bool = False
    options: dict[str, object] = field(default_factory=dict)
    rows: int = 4


FILES = {
    "iris with words": File(
        IRIS.encode(),
        "species",
        ("sepal_length 4.9 to 7", "petal_width 0.2 to 2.5"),
        (5.1, 0.2),
        ("classes of species: setosa, versicolor, virginica", "y = +1 for the labels versicolor, y = -1 for setosa, v"),
    ),
    "scikit-learn's iris, with counts and class names on top": File(
        b"4,2,setosa,versicolor,virginica\n5.1,0.2,0\n4.9,0.3,0\n7.0,1.4,1\n6.3,2.5,2\n",
        "label",
        ("column1 4.9 to 7", "column2 0.2 to 2.5"),
        (5.1, 0.2),
        ("the classes setosa, versicolor, virginica", "y = +1 for the labels versicolor, y = -1 for setosa, virginica"),
        given=True,
    ),
    "scikit-learn's housing, with counts above the names": File(
        b"4,2,\nrooms,age,price\n6.5,65.2,24\n6.4,78.9,21.6\n7.1,61.1,34.7\n6.9,45,33.4\n",
        "price",
        ("rooms 6.4 to 7.1", "age 45 to 78.9"),
        (6.5, 65.2),
        ("y = price, 21.6 to 34.7", "age carries most of L"),
    ),
    "penguins, with NA and words": File(
        PENGUINS.encode(),
        "species",
        ("island=Biscoe 0 to 1", "island=Dream 0 to 1", "island=Torgersen 0 to 1", "bill 39.1 to 50"),
        (0, 0, 1, 39.1, 3750, 0, 1),
        (
            "missing values (bill 1, mass 1, sex 1): 1 of 4 rows are left out; --missing drop or mean",
            "words, each a feature 0 or 1: island (3), sex (2); at most --read levels=20",
            "mass carries most of L",
        ),
        rows=3,
    ),
    "penguins, with means for NA": File(
        PENGUINS.encode(),
        "species",
        ("island=Biscoe 0 to 1", "bill 39.1 to 50", "mass 3750 to 4500", "sex=female 0 to 1"),
        (0, 0, 1, 39.1, 3750, 0, 1),
        ("missing values (bill 1, mass 1, sex 1): features become the mean",),
        options={"missing": "mean"},
    ),
    "mtcars, with names of cars in a column without a name": File(
        b'"","mpg","cyl","vs"\n"Mazda RX4",21,6,0\n"Datsun 710",22.8,4,1\n"Duster 360",14.3,8,0\n"Fiat 128",32.4,4,1\n',
        "mpg",
        ("cyl 4 to 8", "vs 0 to 1"),
        (6, 0),
        ("left out: column1 (no name)", "y = mpg, 14.3 to 32.4"),
        given=True,
        options={"potential": "huber"},
    ),
    "wine quality, with semicolons and quotes": File(
        b'"fixed acidity";"alcohol";"quality"\n7.4;9.4;5\n7.8;9.8;5\n11.2;9.8;6\n7.3;10;7\n',
        "quality",
        ("fixed acidity 7.3 to 11.2", "alcohol 9.4 to 10"),
        (7.4, 9.4),
        ("delimiter ';'", "quality has 3 classes; --read target=number takes it as y"),
    ),
    "diabetes, with tabs": File(
        b"AGE\tSEX\tBMI\tY\n59\t2\t32.1\t151.5\n48\t1\t21.6\t75\n72\t2\t30.5\t141\n24\t1\t25.3\t206\n",
        "Y",
        ("AGE 24 to 72", "SEX 1 to 2", "BMI 21.6 to 32.1"),
        (59, 2, 32.1),
        ("delimiter tab", "y = Y, 75 to 206", "AGE carries most of L"),
        suffix=".tsv",
        options={"potential": "quadratic"},
    ),
    "pandas, with its index": File(
        b",x,z,target\n0,1.5,2.5,1\n1,1.25,3.5,0\n2,0.5,2.25,1\n3,0.75,1.5,0\n",
        "target",
        ("x 0.5 to 1.5", "z 1.5 to 3.5"),
        (1.5, 2.5),
        ("left out: column1 (no name)",),
    ),
    "pandas, with the index of a file that was read and written again": File(
        b"Unnamed: 0,x,target\n0,1.5,1\n1,1.25,0\n2,0.5,1\n3,0.75,0\n",
        "target",
        ("x 0.5 to 1.5",),
        (1.5,),
        ("left out: Unnamed: 0 (no name)",),
    ),
    "write.csv2 of R": File(
        EUROPEAN.encode(),
        "group",
        ("weight 1.5 to 3.5", "height 9.75 to 11.5"),
        (1.5, 10.25),
        ("delimiter ';', decimal comma", "left out: column1 (no name)", "classes of group: ctrl, trt"),
        rows=3,
    ),
    "write.table of R, without a name above the names of rows": File(
        b'"x" "kind"\n"1" 0.5 "a"\n"2" 1.5 "b"\n"3" 2.5 "a"\n',
        "kind",
        ("x 0.5 to 2.5",),
        (0.5,),
        ("delimiter space", "left out: column1 (no name)"),
        suffix=".txt",
        rows=3,
    ),
    "UTF-16 from a spreadsheet": File(
        IRIS.replace(",", "\t").encode("utf-16"),
        "species",
        ("sepal_length 4.9 to 7",),
        (5.1, 0.2),
        ("text: utf-16, delimiter tab",),
        suffix=".txt",
    ),
    "UTF-8 with a mark": File(IRIS.encode("utf-8-sig"), "species", ("sepal_length 4.9 to 7",), (5.1, 0.2)),
    "latin-1": File(
        "größe;stadt;art\n1,5;Köln;a\n2,5;Zürich;b\n2;Köln;a\n3;Köln;b\n".encode("latin-1"),
        "art",
        ("größe 1.5 to 3", "stadt=Köln 0 to 1", "stadt=Zürich 0 to 1"),
        (1.5, 1, 0),
        ("text: latin-1",),
        given=True,
    ),
    "gz": File(
        gzip.compress(IRIS.encode(), mtime=0), "species", ("petal_width 0.2 to 2.5",), (5.1, 0.2), suffix=".csv.gz"
    ),
    "no header": File(
        IRIS.partition("\n")[2].encode(),
        "column3",
        ("column1 4.9 to 7", "column2 0.2 to 2.5"),
        (5.1, 0.2),
        ("no line of names",),
        suffix=".data",
    ),
    "question marks, and lines that end as in DOS": File(
        b"5.5,?,yes\r\n1.5,2.5,no\r\n2.5,1.5,yes\r\n", "column3", ("column1 1.5 to 2.5",), (1.5, 2.5), rows=2
    ),
    "ids and constants": File(
        b"PassengerId,Age,Ship,Survived\n11,22.5,T,0\n13,38,T,1\n12,26,T,1\n14,35,T,0\n",
        "Survived",
        ("Age 22.5 to 38",),
        (22.5,),
        ("left out: PassengerId (an id), Ship (always T); --features names the columns to use",),
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_read_as_its_package_means_it(tmp_path, case):
    file = FILES[case]
    path = tmp_path / f"data{file.suffix}"
    path.write_bytes(file.content)
    options = {"clients": 1, **file.options}
    if not file.given:
        with pytest.raises(DataError, match=f"such as '{file.label}'") as refused:
            load_data(path, **options)
        assert refused.value.add == (f"--label-column={file.label}",)
    problem = load_data(path, label_column=file.label, **options)
    rows = np.concatenate([problem.past.rows, problem.current.rows])
    assert len(rows) == file.rows
    assert [*file.first, 1.0] in rows.tolist()
    (features,) = [note for note in problem.notes if note.startswith("features: ")]
    for name in file.names:
        assert name in features
    for words in file.said:
        assert any(words in note for note in problem.notes), (words, problem.notes)


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_regression_targets_are_the_shifts(tmp_path):
    path = write(tmp_path, "x,y\n1,0.5\n2,-3.25\n3,7\n4,1e3\n")
    problem = load_data(path, label_column="y", potential="quadratic", clients=1)
    assert sorted([*problem.past.shifts, *problem.current.shifts]) == [-3.25, 0.5, 7, 1000]
    for options in ({"potential": "logistic"}, {"positive": [1]}, {"past_classes": [1]}):
        with pytest.raises(InvalidInput, match="y is the number 'y', which has no classes"):
            load_data(path, label_column="y", clients=1, **options)
    np.savez(tmp_path / "data.npz", features=np.eye(4), labels=np.array([0.5, -3.25, 7, 8]))
    problem = load_data(tmp_path / "data.npz", clients=1, target="number")
    assert sorted([*problem.past.shifts, *problem.current.shifts]) == [-3.25, 0.5, 7, 8]


def test_words_name_tasks_clients_and_classes(tmp_path):
    lines = [f"{k / 8},{('old', 'new')[k % 2]},{('Köln', 'Bonn')[k // 4 % 2]},{'abc'[k % 3]}" for k in range(24)]
    path = write(tmp_path, "\n".join(["x,when,site,kind", *lines]))
    problem = load_data(path, label_column="kind", task_column="when", client_column="site", positive=["a", "c"])
    assert problem.notes[-3:] == (
        "y = +1 for the labels a, c, y = -1 for b",
        "when = new is the past task, when = old the current one: 12 and 12 samples",
        "2 clients, one for each value of 'site'",
    )
    problem = load_data(path, label_column="kind", past_classes=["b"], clients=1)
    assert "the classes b are the past task, a, c the current one: 8 and 16 samples" in problem.notes
    with pytest.raises(DataError, match=r"class d has no samples in data\.csv: choose among its classes: a, b, c"):
        load_data(path, label_column="kind", past_classes=["d"], clients=1)


def test_scaled_features_have_mean_0_and_variance_1(tmp_path):
    path = write(tmp_path, "income,rate,label\n1e5,0.5,0\n3e5,0.25,1\n2e5,0.125,0\n5e5,1,1\n")
    plain, scaled = (load_data(path, clients=1, scale=scale) for scale in (False, True))
    assert any(note.startswith("income carries most of L") for note in plain.notes)
    assert not any("carries most" in note for note in scaled.notes)
    rows = np.concatenate([scaled.past.rows, scaled.current.rows])[:, :-1]
    assert rows.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert rows.var(axis=0) == pytest.approx(1)
    assert scaled.L.value < 10 < 1e9 < plain.L.value


def test_features_are_those_that_are_named(tmp_path):
    lines = [f"{k},{k * k / 7},w{k},{k % 2}" for k in range(30)]
    path = write(tmp_path, "\n".join(["n,square,word,label", *lines]))
    problem = load_data(path, clients=1)
    assert problem.notes[1] == (
        "left out: n (counts the rows), word (another word in each row); --features names the columns to use"
    )
    assert load_data(path, clients=1, features="n, square").dimension == 3
    assert load_data(path, clients=1, features=["n", "word"], levels=30).dimension == 32
    with pytest.raises(DataError, match=r"no column left as a feature: .*word \(30 words, more than levels = 20\)"):
        load_data(path, clients=1, features="word")
    with pytest.raises(DataError, match="no column left as a feature"):
        load_data(path, clients=1, drop="square")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,label\n1e200,0\n2,1\n", {}, "1e.200 in row 0, column 0 of the features .* scale it"),
        ("a,y\n1,1.5e200\n2,1.25\n", {"label_column": "y"}, "in row 0, column 0 of the targets"),
        ("a,label\n1,0\n2,1e999\n", {}, "'1e999' in line 3, column 'label': use a finite number"),
        ("a,label\n1,0\nx,1\n3,1\n", {}, "'x' in line 3, column 'a', among numbers"),
        (b"\n\n \n", {}, "is empty"),
        ("a,a,label\n1,2,0\n", {"features": "a"}, "2 columns 'a'"),
        ("a,b,label\n?,5,0\n2,?,1\n3,6,NA\n4,5,NA\n", {}, "no row of .* is complete"),
        ("a,label\nNA,0\nNA,1\n", {}, r"no column left as a feature: .*a \(empty\)"),
        (b"\x00\x01\x02,1\n", {}, "cannot be read as text"),
        (bytes(range(256)) * 4, {}, "cannot be read as text"),
        (b"\xff\xfea", {}, "cannot be read as utf-16"),
        (b"\x1f\x8b\x08\x00abc", {}, "cannot be read"),
        (gzip.compress(b"a,label\n1,0\n" * 99, mtime=0)[:-9], {}, "cannot be read"),
        (b"a,label\n" + b"1" * 200_000 + b",0\n", {}, "cannot be read .field larger"),
        ("a,label\n1,0\n", {"encoding": "klingon"}, "encoding 'klingon' is unknown"),
        ("a,label\n1,0\n", {"encoding": "hex"}, "encoding 'hex' is unknown"),
        ("a,label\n1,0\n", {"delimiter": "ab"}, "delimiter is 'ab'"),
        ("a,label\n1,0\n", {"missing": "median"}, "missing is 'median': use drop or mean"),
        ("a,label\n1,0\n", {"levels": 0}, "levels is 0"),
        ("a,label\n1,0\n", {"colour": "red"}, "no option 'colour': use one of encoding, "),
        ("a,label\n1,x\n2,y\n", {"target": "number"}, "has words in 'label'"),
        (
            "a,label\n" + "".join(f"{k * k},w{k}\n" for k in range(21)),
            {},
            "21 different words in 'label', more than levels",
        ),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, options, message):
    with pytest.raises(InvalidInput, match=message):
        load_data(write(tmp_path, content), **{"clients": 1, **options})


def test_only_regular_files_of_limited_size_are_read(tmp_path, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv cannot be read \(Is a directory"):
        load_data(tmp_path / "folder.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match=r"pipe\.csv cannot be read \(it is no regular file but a pipe: write"):
        load_data(tmp_path / "pipe.csv")
    monkeypatch.setattr("cflag_theory.kernels.problems.table.MOST_BYTES", 1 << 20)
    with pytest.raises(DataError, match="has more than 1 MiB of text"):
        load_data(write(tmp_path, gzip.compress(bytes(1 << 21), mtime=0), "bomb.csv.gz"))
    with pytest.raises(InvalidInput, match="missing is about text tables, and 'digits' is none"):
        load_data("digits", missing="mean")


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [("1.5", ".", 1.5), ("1,5", ",", 1.5), ("-2e-3", ".", -0.002), ("1,5", ".", None), ("1.234", ",", None)],
)
def test_a_point_beside_a_decimal_comma_is_no_decimal_point(cell, decimal, value):
    """1.234 would be 1234 there: no number is read, rather than one that is a thousand times too small."""
    assert number(cell, decimal) == value
