"""Files by address, list and pattern; lazy frames, queries and streams; where hocmim writes."""

import contextlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hocmim import JMI, Engine
from hocmim.data.addresses import is_address, is_pattern
from hocmim.errors import InvalidParameterError, InvalidTableError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=[f"x{j}" for j in range(6)])
    frame["color"] = rng.choice(["red", "green", None], 300)
    frame["y"] = (frame["x2"] > 0) & (frame["color"] == "red")
    return frame


@pytest.fixture(scope="module")
def expected(table):
    return JMI(3).fit(table.drop(columns="y"), table["y"])


def parts(table):
    return [
        pa.Table.from_pandas(table[at : at + 100], preserve_index=False) for at in (0, 100, 200)
    ]


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    for number, part in enumerate(parts(table)):
        pq.write_table(part, path / f"part-{number}.parquet")
    return path


def assert_same(found, expected):
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.scores_.tobytes() == expected.scores_.tobytes()


# -- lists and patterns ----------------------------------------------------------------------------


def test_lists_and_patterns(folder, expected):
    files = sorted(folder.iterdir())
    assert_same(JMI(3).fit(files, "y"), expected)
    assert_same(JMI(3).fit([str(file) for file in files], "y"), expected)
    assert_same(JMI(3).fit(str(folder / "part-*.parquet"), "y"), expected)
    assert_same(JMI(3).fit([folder / "part-[0-1].parquet", files[2]], "y"), expected)
    assert_same(JMI(3).fit(str(folder / "**" / "part-?.parquet"), "y"), expected)
    assert expected.transform(files).shape == (300, 3)


def test_what_matches_nothing(folder):
    with pytest.raises(InvalidTableError, match=r"No file matches .*none-.*Check the pattern"):
        JMI(3).fit(str(folder / "none-*.parquet"), "y")
    with pytest.raises(InvalidTableError, match=r"there is no file or folder .*none.parquet"):
        JMI(3).fit([folder / "part-0.parquet", folder / "none.parquet"], "y")


def test_a_file_with_marks_in_its_name(folder, tmp_path, expected):
    path = tmp_path / "a[1]*.parquet"
    pq.write_table(pq.read_table(folder), path)
    assert not is_pattern(path)
    assert_same(JMI(3).fit(path, "y"), expected)


def test_what_is_an_address():
    assert all(map(is_address, ("s3://b/k", "gs://b", "abfs://c@a/x", "memory://x", "s3:/b/k")))
    assert not any(map(is_address, ("C:/x", "C:\\x", "/a/b", "a:b", "-", "file.csv")))


# -- stores ----------------------------------------------------------------------------------------


@pytest.fixture
def memory(table):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for number, part in enumerate(parts(table)):
        with store.open(f"/hocmim-test/part-{number}.parquet", "wb") as file:
            pq.write_table(part, file)
    yield "memory://hocmim-test"
    store.rm("/hocmim-test", recursive=True)


def test_fsspec(memory, expected, tmp_path):
    assert_same(JMI(3).fit(memory, "y"), expected)
    assert_same(JMI(3).fit(f"{memory}/part-*.parquet", "y"), expected)
    assert_same(JMI(3).fit([f"{memory}/part-{k}.parquet" for k in range(3)], "y"), expected)
    for _ in range(2):  # written, and read again
        engine = Engine(codes_dir=tmp_path / "codes")
        assert_same(JMI(3, engine=engine).fit(memory, "y"), expected)
    assert len(list((tmp_path / "codes").glob("[!.]*"))) == 1
    with pytest.raises(InvalidTableError, match=r"no file or folder 'memory://hocmim-none'"):
        JMI(3).fit("memory://hocmim-none", "y")


def test_addresses_that_cannot_be_opened():
    pytest.importorskip("fsspec")
    with pytest.raises(InvalidTableError, match=r"'nonsense://x/y' cannot be opened"):
        JMI(3).fit("nonsense://x/y", "y")
    with pytest.raises(InvalidParameterError, match=r"different stores"):
        JMI(3).fit(["memory://a/b.parquet", "c.parquet"], "y")


@pytest.fixture(scope="module")
def s3(table, tmp_path_factory):
    """A server on this machine that speaks as S3 does; the address of the table on it."""
    pytest.importorskip("moto", reason="moto, a local S3 server, is not installed")
    pytest.importorskip("flask_cors", reason="the server of moto needs flask and flask-cors")
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    with contextlib.closing(ServerOf(ThreadedMotoServer("127.0.0.1", port=0))) as server:
        settings = {
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": server.url,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            store = fs.S3FileSystem(endpoint_override=server.url, allow_bucket_creation=True)
            store.create_dir("bkt")
            for number, part in enumerate(parts(table)):
                pq.write_table(part, f"bkt/tab/part-{number}.parquet", filesystem=store)
            with store.open_output_stream("bkt/tab.csv") as file:
                file.write(table.to_csv(index=False).encode())
            yield "s3://bkt/tab"


class ServerOf:
    """A server that is stopped by ``close``."""

    def __init__(self, server):
        server.start()
        self.close = server.stop
        self.url = "http://{}:{}".format(*server.get_host_and_port())


def test_s3(s3, expected, tmp_path):
    assert_same(JMI(3).fit(s3, "y"), expected)
    assert_same(JMI(3).fit(f"{s3}/part-*.parquet", "y"), expected)
    assert_same(JMI(3, engine=Engine(codes_dir=tmp_path / "codes")).fit(s3, "y"), expected)
    assert expected.transform(s3).shape == (300, 3)
    with pytest.raises(InvalidTableError, match=r"no file or folder 's3://bkt/none'"):
        JMI(3).fit("s3://bkt/none", "y")


def command(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "hocmim.cli", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("end", ["", "/part-*.parquet", ".csv"])
@pytest.mark.parametrize("options", [[], ["--codes-dir", "codes"]])
def test_s3_on_the_command_line(s3, expected, folder, tmp_path, end, options):
    found = command(
        "select", f"{s3}{end}", "-t", "y", "-k", 3, "-m", "jmi", "-o", "out.csv", *options,
        folder=tmp_path,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    names = [f"x{j}" for j in range(6)] + ["color"]
    selected = [names[j] for j in expected.selection_.indices]
    assert pd.read_csv(tmp_path / "out.csv").columns.tolist() == [*selected, "y"]


def test_mistakes_on_the_command_line(s3, folder, tmp_path):
    for address in ("s3://bkt/none", "s3://bkt/none.csv"):
        found = command("select", address, "-t", "y", folder=tmp_path)
        assert found.returncode == 1  # as for any table that cannot be read
        assert address in found.stderr
    for option in ("-o", "--save", "--checkpoint", "--codes-dir", "--json"):
        found = command("select", folder, "-t", "y", option, "s3://bkt/out.csv", folder=tmp_path)
        assert found.returncode == 2
        assert "'s3://bkt/out.csv' is an address." in " ".join(found.stderr.split())


def test_a_pattern_on_the_command_line(folder, tmp_path):
    pattern = str(folder / "part-*.parquet")
    found = command("select", pattern, "-t", "y", "-k", 3, "-m", "jmi", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "300 rows" in found.stderr + found.stdout
    found = command("select", str(folder / "*.csv"), "-t", "y", folder=tmp_path)
    assert found.returncode == 2


# -- where hocmim writes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda X, y: JMI(3, engine=Engine(codes_dir="s3://bkt/codes")).fit(X, y),
        lambda X, y: JMI(3, engine=Engine(checkpoint="s3://bkt/run")).fit(X, y),
        lambda X, y: JMI(3).fit(X, y).save("s3://bkt/model.json"),
        lambda X, y: JMI(3).fit(X, y).report("s3://bkt/page.html", X, y),
    ],
)
def test_results_are_local(table, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"'s3://bkt/.* is an address.*local disk only"):
        write(table.drop(columns="y"), table["y"])
    assert list(tmp_path.iterdir()) == []


# -- lazy frames, queries, streams -----------------------------------------------------------------


def test_lazy_frames(table, folder, expected, monkeypatch):
    pl = pytest.importorskip("polars")
    frame = pl.scan_parquet(folder / "*.parquet")
    assert_same(JMI(3).fit(frame, "y"), expected)
    assert_same(JMI(3).fit(frame.drop("y"), table["y"]), expected)
    monkeypatch.setattr("hocmim.data.lazy_frames.MEMORY_SHARE", 0.0)  # a column at a time
    monkeypatch.setattr("hocmim.data.rows.MAX_CELLS", 128)
    assert_same(JMI(3).fit(frame, "y"), expected)
    assert expected.transform(frame).shape == (300, 3)
    with pytest.raises(InvalidParameterError, match=r"lazy frame.*sink_parquet"):
        JMI(3, engine=Engine(codes_dir=folder.parent / "codes")).fit(frame, "y")


def test_queries_and_streams(table, folder, expected):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        query = database.sql(f"SELECT * FROM '{folder}/*.parquet' ORDER BY filename")
        assert_same(JMI(3).fit(query, "y"), expected)
    whole = pq.read_table(folder)
    assert_same(JMI(3).fit(whole.to_reader(), "y"), expected)
    stream = whole.drop_columns("y").to_reader()
    assert_same(JMI(3).fit(stream, ["yes" if one else "no" for one in table["y"]]), expected)
