"""Folders of attempts and their keys."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from driftgate.harness.records import KEY_FILE, discard, idempotency_key, new_attempt_folder
from gate.errors import ConfigError, RecordError
from gate.identity import SeriesIdentity

IDENTITY = SeriesIdentity("default", "tests/e2e/test_ppo.py", "cuda", "stage-c-8-gpu-h100")


def test_the_layout(tmp_path):
    """<base>/<slug>-<hash>/attempt-<n>, the attempts of one test side by side."""
    first = new_attempt_folder(tmp_path, IDENTITY, "call", 1)
    second = new_attempt_folder(tmp_path, IDENTITY, "call", 2)
    assert (first.name, second.name, first.parent) == ("attempt-1", "attempt-2", second.parent)
    assert first.parent.parent == tmp_path
    assert first.parent.name.startswith("tests-e2e-test-ppo-")


def test_a_folder_is_never_reused(tmp_path):
    """Another call, another suite: another folder; the same attempt twice is refused."""
    first = new_attempt_folder(tmp_path, IDENTITY, "call", 1)
    other_suite = SeriesIdentity("default", IDENTITY.test_path, "cuda", "stage-c-8-gpu-b200")
    assert (
        len(
            {
                first,
                new_attempt_folder(tmp_path, IDENTITY, "x", 1),
                new_attempt_folder(tmp_path, other_suite, "call", 1),
            }
        )
        == 3
    )
    with pytest.raises(ConfigError, match=r"records folder .*attempt-1: cannot be created: File exists"):
        new_attempt_folder(tmp_path, IDENTITY, "call", 1)


def test_awkward_names_stay_inside(tmp_path):
    """A test path cannot lead out of the base or be too long for a file name."""
    for path in ("../../etc/passwd", "a/" * 300 + "t.py", "\udcff.py", "..", "t\n$(x).py"):
        folder = new_attempt_folder(tmp_path, SeriesIdentity("p", path, "cpu", "s"), "call", 1)
        assert folder.resolve().parent.parent == tmp_path.resolve()


def test_discard(tmp_path):
    """A discarded attempt is gone with all in it, the others stay; discarding nothing is no error."""
    first, second = (new_attempt_folder(tmp_path, IDENTITY, "call", number) for number in (1, 2))
    (first / "a.jsonl").touch()
    discard(first)
    discard(first)
    assert list(first.parent.iterdir()) == [second]
    discard(second)
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_found_again(tmp_path):
    """Every later call, also one at the same moment, gets the key of the first, and nothing else is left behind."""
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: idempotency_key(tmp_path), range(32)))
    assert keys == {idempotency_key(tmp_path)}
    assert str(uuid.UUID(*keys)) in keys
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_two_attempts_have_two_keys(tmp_path):
    """A key belongs to one attempt."""
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    assert idempotency_key(tmp_path / "1") != idempotency_key(tmp_path / "2")


def test_a_planted_key_is_refused(tmp_path):
    """Neither a link nor garbage is taken for the key."""
    (tmp_path / KEY_FILE).write_text("garbage")
    with pytest.raises(RecordError, match="not the key of this attempt; remove it"):
        idempotency_key(tmp_path)
    (tmp_path / KEY_FILE).unlink()
    (tmp_path / KEY_FILE).symlink_to("/etc/hostname")
    with pytest.raises(RecordError, match="not the key"):
        idempotency_key(tmp_path)


def test_no_folder_no_key(tmp_path):
    """One line naming the place."""
    with pytest.raises(RecordError, match="No such file or directory"):
        idempotency_key(tmp_path / "gone")
