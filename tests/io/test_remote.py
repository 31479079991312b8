"""Files of a web server, which is a real process, and of fsspec's file system in memory."""

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from structhash._numerics.addresses import as_path
from structhash.io import facts, fetched, load_codes, parts_of, read, read_rows

X = np.random.default_rng(0).standard_normal((6000, 16)).astype(np.float32)


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """The folder that copies are made in."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def write_files(folder):
    """A file of each kind, with the same rows, and a folder with three parts."""
    np.save(folder / "x.npy", X)
    np.savez(folder / "x.npz", X=X[:300], y=np.arange(300) % 7, Q=X[:5], qrels=[[0, 1, 1]])
    np.savetxt(folder / "x.csv", X[:50], delimiter=",", header=",".join("abcdefghijklmnop"), comments="")
    width = np.full((len(X), 1), 16, np.int32)
    (folder / "x.fvecs").write_bytes(np.hstack([width.view(np.float32), X]).tobytes())
    (folder / "parts").mkdir()
    table = pa.table({"id": np.arange(len(X)), "v": pa.array(list(X), pa.list_(pa.float32()))})
    pq.write_table(table, folder / "x.parquet", row_group_size=500)
    with pa.ipc.new_file(folder / "x.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=500)
    for part, first in enumerate(range(0, 6000, 2000)):
        pq.write_table(table[first : first + 2000], folder / "parts" / f"p{part}.parquet")
    (folder / "qrels.txt").write_text("0 0 3 1\n1 0 4 2\n")


@pytest.fixture(params=["web", "plain_web", "memory"])
def base(request, tmp_path, copies):
    """Where the files of `write_files` are."""
    if request.param == "memory":
        folder = tmp_path / "files"
        folder.mkdir()
        write_files(folder)
        system = fsspec.filesystem("memory")
        system.put(str(folder), "/bucket", recursive=True)
        yield "memory://bucket"
        system.rm("/bucket", recursive=True)
    else:
        server = request.getfixturevalue(request.param)
        write_files(server.folder)
        yield server.address


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.npy", "x.fvecs", "x.parquet", "x.arrow", "parts/*.parquet", "parts/"])
def test_a_file_of_another_machine_is_read_as_one_of_this(base, copies, name):
    np.testing.assert_array_equal(read(f"{base}/{name}").X, X)
    rows = read_rows(f"{base}/{name}")
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks)), X)
    assert rows.shape == (6000, 16)
    if rows.ids is not None:
        assert np.concatenate(list(rows.ids.blocks)).tolist() == list(range(6000))
    assert facts(f"{base}/{name}")["rows"] == 6000
    del rows
    gc.collect()
    assert not list(copies.iterdir())


def test_labels_queries_and_judgements_are_read(base):
    data = read(f"{base}/x.npz")
    assert (data.y[8], data.Q.shape, data.qrels.tolist()) == (1, (5, 16), [[0, 1, 1]])
    data = read(f"{base}/x.csv", query_file=f"{base}/x.npy", qrels=f"{base}/qrels.txt")
    assert data.names == list("abcdefghijklmnop")
    assert (data.Q.shape, data.qrels.tolist()) == (X.shape, [[0, 3, 1], [1, 4, 2]])


def test_an_address_with_a_query_has_the_ending_of_its_file(web):
    write_files(web.folder)
    np.testing.assert_array_equal(read(f"{web.address}/x.npy?version=2.csv").X, X)
    np.testing.assert_array_equal(read(f"{web.address}/x.parquet?version=2").X, X)


def test_only_parts_of_a_parquet_file_are_read_at_a_time(web, copies):
    """The footer says what is in it; rows come as they are asked for."""
    rows = np.random.default_rng(1).standard_normal((150_000, 64)).astype(np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(rows.ravel(), 64)
    table = pa.table({"v": vectors, "w": vectors, "id": np.arange(len(rows))})
    pq.write_table(
        table, web.folder / "x.parquet", row_group_size=5000, compression="none", use_dictionary=False
    )
    size = (web.folder / "x.parquet").stat().st_size
    assert size > 5e7
    opened = read_rows(f"{web.address}/x.parquet", column="v")
    assert opened.shape == (150_000, 64)
    assert web.n_sent() < size / 4
    np.testing.assert_array_equal(next(opened.blocks)[:50], rows[:50])
    assert web.n_sent() < 0.75 * size
    assert sum(map(len, opened.blocks)) == 84_464
    assert web.n_sent() < 1.3 * size
    assert not list(copies.iterdir())


def test_a_copy_lives_as_long_as_its_path(web, copies):
    np.save(web.folder / "x.npy", X)
    copy = fetched(as_path(f"{web.address}/x.npy"))
    assert copy.read_bytes() == (web.folder / "x.npy").read_bytes()
    assert fetched(copy) is copy
    assert parts_of(copy) is None
    assert len(list(copies.iterdir())) == 1
    del copy
    assert not list(copies.iterdir())
    assert fetched(Path("a.npy")) == Path("a.npy")


def test_what_is_not_there_is_named_and_leaves_no_copy(base, copies):
    for name in ("none.npy", "none.parquet", "none*.parquet", "none/*.npy"):
        with pytest.raises(FileNotFoundError, match=r"no such file: .*/none"):
            read(f"{base}/{name}")
    with pytest.raises(ValueError, match=r"cannot read .*qrels.txt: unknown extension '.txt', known are"):
        read(f"{base}/qrels.txt")
    with pytest.raises(ValueError, match=r"it is not one file but holds parts, qrels.txt, x.arrow"):
        read(f"{base}/")
    gc.collect()
    assert not list(copies.iterdir())


def test_damaged_and_empty_files_are_named(web):
    (web.folder / "x.npy").write_text("1,2\n")
    (web.folder / "x.parquet").write_bytes(bytes(5000))
    (web.folder / "empty.parquet").touch()
    (web.folder / "empty.npy").touch()
    for name, message in (
        ("x.npy", "it is text, not a .npy file"),
        ("x.parquet", "it is damaged"),
        ("empty.parquet", "it is empty"),
        ("empty.npy", "it is empty"),
    ):
        with pytest.raises(ValueError, match=f"cannot read {web.address}/{name}: {message}"):
            read(f"{web.address}/{name}")


def test_a_server_that_ends_meanwhile_is_named_and_no_file_is_called_damaged(web):
    rows = np.random.default_rng(1).standard_normal((200_000, 64)).astype(np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(rows.ravel(), 64)
    pq.write_table(pa.table({"v": vectors}), web.folder / "x.parquet", row_group_size=5000)
    opened = read_rows(f"{web.address}/x.parquet")
    next(opened.blocks)
    web.end()
    with pytest.raises(ConnectionError, match=f"cannot read {web.address}/x.parquet: "):
        list(opened.blocks)
    for name in ("x.npy", "x.parquet", "*.npy", "parts/"):
        with pytest.raises(
            ConnectionError, match=rf"cannot read {web.address}/{re.escape(name)}: .*[Cc]onnect"
        ):
            read(f"{web.address}/{name}")


@pytest.mark.parametrize("pattern", ["lone*.fvecs", "l?ne-x=1.fvecs", "?one-x=*.fvecs", "lon[e]*.fvecs"])
def test_a_pattern_may_begin_an_address_of_an_object_store(pattern):
    rows = np.hstack([np.full((5, 1), 16, np.int32).view(np.float32), X[:5]])
    system = fsspec.filesystem("memory")
    system.pipe("/lone-x=1.fvecs", rows.tobytes())
    np.testing.assert_array_equal(read(f"memory://{pattern}").X, X[:5])
    system.rm("/lone-x=1.fvecs")


REFUSING_SERVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer

class Refusing(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(403)

    do_HEAD = do_GET

server = HTTPServer(("127.0.0.1", 0), Refusing)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.mark.parametrize(
    ("name", "query"), [("x.npy", "?X-Amz-Signature=key"), ("x.parquet", "?key"), ("*.npy", ""), ("parts/", "")]
)
def test_a_server_that_refuses_is_named_without_the_secrets_of_the_address(serve, copies, name, query):
    server = serve(REFUSING_SERVER)
    address = server.address.replace("http://", "http://me:password@")
    with pytest.raises(ConnectionError) as raised:
        read(address + "/" + name + query)
    said = "".join(traceback.format_exception(raised.value))
    assert f"cannot read {server.address}/{name}: 403" in said
    assert "password" not in said
    assert "key" not in said
    assert not list(copies.iterdir())


def test_a_full_temporary_folder_is_named(copies, monkeypatch):
    resource = pytest.importorskip("resource", reason="limits of a process are those of POSIX")
    fsspec.filesystem("memory").pipe("/large.npy", bytes(50_000))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, limits[1]))
    try:
        with pytest.raises(OSError, match="into the temporary folder") as raised:
            read("memory://large.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.strerror == (
        f"cannot copy memory://large.npy into the temporary folder {copies}: File too large; set TMPDIR to a "
        "folder with enough room"
    )
    assert not isinstance(raised.value, ConnectionError)
    assert not list(copies.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(copies / "none"))
    with pytest.raises(
        OSError, match=r"into the temporary folder .*none: No such file or directory; set TMPDIR"
    ):
        read("memory://large.npy")


APACHE = """
import io, os, sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

class Apache(SimpleHTTPRequestHandler):
    def list_directory(self, path):
        names = [quote(each.name) + "/" * each.is_dir() for each in os.scandir(path)]
        links = ["?C=N;O=D", "?C=M;O=A", "?C=S;O=A", "?C=D;O=A", "/", *names]
        page = "".join(f'<tr><td><a href="{link}">{link}</a></td></tr>' for link in links).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html;charset=UTF-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        return io.BytesIO(page)

server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Apache, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
"""


def test_links_of_a_listing_that_sort_it_are_no_files(serve):
    server = serve(APACHE)
    for part in range(3):
        np.save(server.folder / f"part {part}.npy", X[2000 * part : 2000 * part + 2000])
    for name in ("", "*", "*.npy"):
        found = parts_of(as_path(f"{server.address}/{name}"))
        assert [each.name for each in found] == ["part 0.npy", "part 1.npy", "part 2.npy"]
        np.testing.assert_array_equal(read(f"{server.address}/{name}").X, X)
    (server.folder / "a").mkdir()
    shutil.move(server.folder / "part 0.npy", server.folder / "a" / "b.npy")
    for name in ("a/", "*/*"):
        np.testing.assert_array_equal(read(f"{server.address}/{name}").X, X[:2000])


UNSIZED_SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Unsized(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

    def do_GET(self):
        self.do_HEAD()
        self.wfile.write(open(sys.argv[1] + self.path, "rb").read())

server = HTTPServer(("127.0.0.1", 0), Unsized)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.mark.parametrize("name", ["x.npy", "x.parquet"])
def test_a_file_whose_size_is_not_known_is_read(serve, name):
    server = serve(UNSIZED_SERVER)
    write_files(server.folder)
    np.testing.assert_array_equal(read(f"{server.address}/{name}").X, X)


def test_a_file_of_which_not_all_arrives_is_refused(copies):
    class Short(fsspec.get_filesystem_class("memory")):
        protocol = "short"

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.replace("short://", "memory://"))

        def info(self, path, **more):
            return {**super().info(path, **more), "size": 9999}

    fsspec.register_implementation("short", Short, clobber=True)
    fsspec.filesystem("memory").pipe("/x.npy", bytes(5000))
    with pytest.raises(ConnectionError, match=r"cannot read short://x.npy: 5000 of 9999 bytes arrived"):
        read("short://x.npy")
    gc.collect()
    assert not list(copies.iterdir())


SLOW_SERVER = """
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

class Slow(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "9000000")
        self.send_header("Accept-Ranges", "none")
        self.end_headers()

    def do_GET(self):
        self.do_HEAD()
        self.wfile.write(bytes(3_000_000))
        time.sleep(WAIT)

server = HTTPServer(("127.0.0.1", 0), Slow)
print(server.server_port, flush=True)
server.serve_forever()
"""


def test_a_connection_that_breaks_leaves_no_copy(serve, copies):
    server = serve(SLOW_SERVER.replace("WAIT", "0"))
    with pytest.raises(ConnectionError, match=f"cannot read {server.address}/x.npy: "):
        read(f"{server.address}/x.npy")
    gc.collect()
    assert not list(copies.iterdir())


@pytest.mark.slow
def test_a_command_that_is_ended_leaves_no_copy(serve, copies):
    server = serve(SLOW_SERVER.replace("WAIT", "600"))
    words = [sys.executable, "-m", "structhash", "info", f"{server.address}/x.npy"]
    with subprocess.Popen(words, env={**os.environ, "TMPDIR": str(copies)}, stderr=subprocess.PIPE) as command:
        while not any(path.stat().st_size for path in copies.glob("structhash-*/*")):
            assert command.poll() is None
        command.terminate()
        said = command.communicate()[1]
    assert (command.returncode, said) == (143, b"ended by SIGTERM\n")
    assert not list(copies.iterdir())


def test_missing_libraries_are_named(monkeypatch):
    with pytest.raises(ImportError, match=r"cannot read s3://bucket/a.npy: Install s3fs to access S3"):
        read("s3://bucket/a.npy")
    with pytest.raises(ConnectionError, match=r"cannot read magic://a.npy: Protocol not known: magic"):
        read("magic://a.npy")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(
        ImportError, match=r"cannot read s3://b/a.npy: it needs fsspec, .*; pip install structhash\[remote\]"
    ):
        read("s3://b/a.npy")


def test_files_that_hold_no_vectors_are_not_read_from_an_address():
    for path in ("https://me:password@host/codes.npy?password", "s3://bucket/codes"):
        with pytest.raises(FileNotFoundError, match="only files of vectors are read from an address") as raised:
            load_codes(path)
        assert "password" not in str(raised.value)


def test_a_folder_of_this_machine_that_looks_like_an_address_stays_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    np.save(tmp_path / "s3:" / "x.npy", X)
    np.testing.assert_array_equal(read(Path("s3:/x.npy")).X, X)
    shutil.rmtree("s3:")
    assert not os.listdir(tmp_path)
