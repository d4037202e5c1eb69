"""Downloads from a server of our own: sums, drafts that go on, archives that lead elsewhere, errors in one sentence."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from image_files import write_cifar, write_fashion, write_tiny_imagenet

from cflag_theory.bridge.data import downloads
from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.data.downloads import Source, download, unpack
from cflag_theory.errors import DataError


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, and ends of files where it is told to."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Range")))
        begun = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if begun is None or not self.server.ranges:
            return super().do_GET()
        content = Path(self.translate_path(self.path)).read_bytes()[int(begun[1]) :]
        self.send_response(206 if content else 416)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words):
        pass


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A folder that a server serves, and the server, which notes what it was asked for."""
    monkeypatch.setenv("no_proxy", "*")
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    server.asked, server.ranges = [], True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield folder, server
    server.shutdown()
    thread.join()
    server.server_close()


def put(monkeypatch, served, name, files, folder, *, packed=True, md5=None):
    """Have a data set come from these files of the server."""
    at, server = served
    sources = tuple(
        Source(
            f"http://127.0.0.1:{server.server_port}/{file}",
            md5 or hashlib.md5((at / file).read_bytes()).hexdigest(),
            folder,
            packed,
        )
        for file in files
    )
    monkeypatch.setitem(downloads.SOURCES, name, sources)
    return sources


def cifar(monkeypatch, tmp_path, served, **more):
    """CIFAR-100's archive on the server; its bytes."""
    folder = write_cifar(tmp_path / "made", "cifar100", "python")
    with tarfile.open(served[0] / "c.tar.gz", "w:gz") as tape:
        tape.add(folder, folder.name)
    put(monkeypatch, served, "cifar100", ["c.tar.gz"], folder.name, **more)
    return (served[0] / "c.tar.gz").read_bytes()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_tar_archive_and_once_only(tmp_path, monkeypatch, served):
    cifar(monkeypatch, tmp_path, served)
    root = tmp_path / "new" / "data"
    images = load_images("cifar100", root, download=True)
    kept = load_images("cifar100", tmp_path / "made")
    np.testing.assert_array_equal(images.train_images, kept.train_images)
    load_images("cifar100", root, download=True)
    assert len(served[1].asked) == 1
    assert names(root) == [downloads.LOCK, "cifar-100-python"]


def test_a_zip_archive(tmp_path, monkeypatch, served):
    pytest.importorskip("PIL")
    write_tiny_imagenet(tmp_path / "made")
    shutil.make_archive(str(served[0] / "t"), "zip", tmp_path / "made", "tiny-imagenet-200")
    put(monkeypatch, served, "tinyimagenet", ["t.zip"], "tiny-imagenet-200")
    images = load_images("tinyimagenet", tmp_path / "data", download=True)
    np.testing.assert_array_equal(images.test_images, load_images("tinyimagenet", tmp_path / "made").test_images)


def test_four_files_of_which_some_are_there(tmp_path, monkeypatch, served):
    write_fashion(served[0], packed=True)
    files = names(served[0])
    put(monkeypatch, served, "fashion-mnist", files, "FashionMNIST/raw", packed=False)
    there = tmp_path / "data" / "FashionMNIST" / "raw"
    there.mkdir(parents=True)
    shutil.copy(served[0] / files[0], there / files[0])
    assert load_images("fashion-mnist", tmp_path / "data", download=True).train_images.shape == (20, 28, 28, 1)
    assert [path for path, _ in served[1].asked] == [f"/{file}" for file in files[1:]]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_draft_goes_on_or_begins_again(tmp_path, monkeypatch, served, ranges, share):
    content = cifar(monkeypatch, tmp_path, served)
    served[1].ranges = ranges
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "c.tar.gz.part").write_bytes(content[: int(share * len(content))])
    load_images("cifar100", tmp_path / "data", download=True)
    assert served[1].asked == [("/c.tar.gz", f"bytes={int(share * len(content))}-")]


def test_another_sum_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, served):
    cifar(monkeypatch, tmp_path, served, md5="0" * 32)
    with pytest.raises(
        DataError, match=r"cifar100 cannot be downloaded to .* has the MD5 sum .* instead of 0000.*fetch h"
    ):
        download("cifar100", tmp_path / "data")
    assert names(tmp_path / "data") == [downloads.LOCK]


def test_what_is_not_served_or_too_long(tmp_path, monkeypatch, served):
    cifar(monkeypatch, tmp_path, served)
    monkeypatch.setattr(downloads, "MOST", 100)
    with pytest.raises(DataError, match="longer than 100 bytes"):
        download("cifar100", tmp_path / "data")
    (served[0] / "c.tar.gz").unlink()
    with pytest.raises(DataError, match=r"404.*give the same command again"):
        download("cifar100", tmp_path / "data")


def tar_of(path, **more):
    with tarfile.open(path, "w:gz") as tape:
        member = tarfile.TarInfo(more.pop("name", "in/file"))
        content = more.pop("content", b"1234")
        member.size = len(content)
        for key, value in more.items():
            setattr(member, key, value)
        tape.addfile(member, io.BytesIO(content) if member.isfile() else None)
    return path


@pytest.mark.parametrize("name", ["../file", "in/../../file", "/in/file", "other/file", "in/a:b", "in\\..\\x"])
@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_a_name_that_leads_elsewhere(tmp_path, kind, name):
    path, root = tmp_path / f"a.{kind}", tmp_path / "root"
    root.mkdir()
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr(name, b"1234")
    else:
        tar_of(path, name=name)
    with pytest.raises(ValueError, match="which is not in the folder in"):
        unpack(path, root, "in")
    assert names(root) == []
    assert names(tmp_path) == [path.name, "root"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_no_plain_file(tmp_path, kind):
    path = tar_of(tmp_path / "a.tar.gz", type=kind, linkname="in/other", size=0)
    with pytest.raises(ValueError, match="no plain file"):
        unpack(path, tmp_path, "in")
    assert names(tmp_path) == ["a.tar.gz"]


def test_a_link_in_a_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        entry = zipfile.ZipInfo("in/file")
        entry.external_attr = 0o120777 << 16
        packed.writestr(entry, "/etc/passwd")
    with pytest.raises(ValueError, match="has a link"):
        unpack(tmp_path / "a.zip", tmp_path, "in")


def test_unpacked_sizes_are_bounded(tmp_path):
    tar_of(tmp_path / "a.tar.gz", content=bytes(1000))
    with pytest.raises(ValueError, match="longer than 999"):
        unpack(tmp_path / "a.tar.gz", tmp_path, "in", most=999)
    assert names(tmp_path) == ["a.tar.gz"]
    unpack(tmp_path / "a.tar.gz", tmp_path, "in", most=1000)
    assert (tmp_path / "in" / "file").stat().st_size == 1000
