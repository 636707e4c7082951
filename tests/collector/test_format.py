"""What ``log()`` writes: the record format, line by line."""

import enum
import math
import re
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.collector import DEFAULT_METRICS, Collector


class TorchLike:
    """The part of a tensor's surface that the collector may use."""

    def __init__(self, value, shape=()):
        self.shape = shape
        self.ndim = len(shape)
        self._value = value

    def __repr__(self):
        """A test's name is the same in every process that collects it."""
        return f"TorchLike({self._value!r})"

    def item(self):
        if isinstance(self._value, Exception):
            raise self._value
        return self._value


class Level(enum.IntEnum):
    HIGH = 3


class Untouchable:
    def __getattribute__(self, name):
        raise AssertionError(f"looked at: {name}")


def test_a_call_writes_one_self_contained_line_per_kept_metric(make_collector, records):
    """The bytes are exactly those of the specification's example, metrics in the order of the call."""
    make_collector(["train/ppo_kl", "train/lr"]).log({"train/ppo_kl": 0.0012, "train/lr": 1e-6}, step=3)
    (path,) = records.iterdir()
    assert path.read_text() == (
        '{"metric": "train/ppo_kl", "series": [[3, 0.0012]]}\n{"metric": "train/lr", "series": [[3, 1e-06]]}\n'
    )
    assert re.fullmatch(r"\d+-[0-9a-f]{32}\.jsonl", path.name)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, 0),
        (-7, -7),
        (2**63, 2**63),
        (10**308, 10**308),
        (Level.HIGH, 3),
        (1e308, 1e308),
        (5e-324, 5e-324),
        (math.nan, "NaN"),
        (-math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (np.float64(0.1), 0.1),
        (np.float64("nan"), "NaN"),
        (np.float32(0.5), 0.5),
        (np.float16("-inf"), "-Infinity"),
        (np.longdouble(0.25), 0.25),
        (np.int64(-3), -3),
        (np.uint8(255), 255),
        (np.array(1.5), 1.5),
        (TorchLike(2.5), 2.5),
        (TorchLike(4), 4),
        (TorchLike(math.inf), "Infinity"),
    ],
    ids=repr,
)
def test_every_kind_of_number_is_written_as_itself(make_collector, read_lines, value, written):
    """Python numbers and 0-d scalars keep their value and their kind; non-finite ones become their marker."""
    make_collector().log({"m": value}, step=0)
    (line,) = read_lines()
    assert line == {"metric": "m", "series": [[0, written]]}
    assert type(line["series"][0][1]) is type(written)


def test_negative_zero_keeps_its_sign(make_collector, read_lines):
    """-0.0 is not 0.0: what is written is true."""
    make_collector().log({"m": -0.0}, step=0)
    assert math.copysign(1, read_lines()[0]["series"][0][1]) == -1


@given(values=st.lists(st.floats() | st.integers(-(2**1023), 2**1023), min_size=1, max_size=30))
def test_what_is_logged_can_be_read_back_bit_by_bit(tmp_path_factory, values):
    """Law: record → strict JSON → value is the identity for every double and every int that fits one."""
    from json import loads

    directory = tmp_path_factory.mktemp("records")
    collector = Collector(str(directory), ["m"])
    for step, value in enumerate(values):
        collector.log({"m": value}, step=step)
    collector.finish()
    (path,) = directory.iterdir()
    points = [loads(line)["series"][0] for line in path.read_text().splitlines()]
    assert [step for step, _ in points] == list(range(len(values)))
    assert [_exact(float(value) if isinstance(value, str) else value) for _, value in points] == list(
        map(_exact, values)
    )


def _exact(value):
    """Tells -0.0 from 0.0 and an int from a float; all NaN are one."""
    return repr(value)


DEFECTS = [
    (None, "expected a number, got NoneType", TypeError),
    (True, "expected a number, got bool", TypeError),
    (np.bool_(1), "expected a number, got bool", TypeError),
    (TorchLike(value=True), "expected a number, got bool", TypeError),
    ("0.5", "expected a number, got str", TypeError),
    (b"1", "expected a number, got bytes", TypeError),
    (1j, "expected a number, got complex", TypeError),
    (np.clongdouble(1), "expected a number, got clongdouble", TypeError),
    (Decimal(1), "expected a number, got Decimal", TypeError),
    ([0.5], "expected a number, got list", TypeError),
    ({"mean": 1.0}, "expected a number, got dict", TypeError),
    (np.array([1.0]), "expected a number, got ndarray", TypeError),
    (np.zeros((2, 2)), "expected a number, got ndarray", TypeError),
    (np.array(None), "expected a number, got NoneType", TypeError),
    (np.str_("1"), "expected a number, got str", TypeError),
    (TorchLike(1.0, shape=(1,)), "expected a number, got TorchLike", TypeError),
    (TorchLike(RuntimeError("meta")), "expected a number, got TorchLike (RuntimeError when read)", TypeError),
    (Untouchable(), "expected a number, got Untouchable (AssertionError when read)", TypeError),
    (10**309, "expected a number, got an int too large for a double", ValueError),
    (-(10**5000), "expected a number, got an int too large for a double", ValueError),
    (TorchLike(2**1024), "expected a number, got an int too large for a double", ValueError),
]


@pytest.mark.parametrize(("value", "defect", "error"), DEFECTS, ids=[defect for _, defect, _ in DEFECTS])
def test_a_value_that_is_no_number_leaves_a_defect_line(make_collector, read_lines, capsys, value, defect, error):
    """The mistake is written and warned about once; the good value of the call and all later calls are kept."""
    collector = make_collector()
    collector.log({"m": value, "n": 1.0}, step=3)
    collector.log({"m": value}, step=4)
    assert read_lines() == [
        {"metric": "m", "defect": defect, "step": 3},
        {"metric": "n", "series": [[3, 1.0]]},
        {"metric": "m", "defect": defect, "step": 4},
    ]
    assert capsys.readouterr().err == (
        f'driftgate: warning: metric "m": {defect}; the gate will report this metric as ERROR\n'
    )


@pytest.mark.parametrize(("value", "defect", "error"), DEFECTS, ids=[defect for _, defect, _ in DEFECTS])
def test_strict_mode_raises_and_writes_nothing_of_the_call(make_collector, records, value, defect, error):
    """DRIFTGATE_STRICT=1: the author sees the mistake where it is made, and no half of the call is recorded."""
    collector = make_collector(DRIFTGATE_STRICT="1")
    with pytest.raises(error, match=re.escape(f'metric "m": {defect}')):
        collector.log({"n": 1.0, "m": value}, step=3)
    assert list(records.iterdir()) == []


@pytest.mark.parametrize(
    ("step", "written"),
    [
        (0, 0),
        (2**63 - 1, 2**63 - 1),
        (None, None),
        (np.int64(5), 5),
        (np.uint8(6), 6),
        (TorchLike(7), 7),
        (Level.HIGH, 3),
    ],
    ids=repr,
)
def test_every_kind_of_step_is_written_as_an_int_or_null(make_collector, read_lines, step, written):
    """A step is an int of at least 0, numpy's and torch's included, or None."""
    make_collector().log({"m": 1.0}, step=step)
    assert read_lines() == [{"metric": "m", "series": [[written, 1.0]]}]


def test_a_step_may_be_left_out(make_collector, read_lines):
    """log(metrics) alone means: a value without a step."""
    make_collector().log({"m": 1.0})
    assert read_lines() == [{"metric": "m", "series": [[None, 1.0]]}]


BAD_STEPS = [
    (True, "got bool", TypeError),
    (np.bool_(0), "got bool", TypeError),
    ("3", "got str", TypeError),
    (3.0, "got float", TypeError),
    (np.float64(3), "got float64", TypeError),
    (math.nan, "got float", TypeError),
    ([3], "got list", TypeError),
    (-1, "got a negative one", ValueError),
    (np.int64(-1), "got a negative one", ValueError),
    (2**63, "got one above 2**63 - 1", ValueError),
]


@pytest.mark.parametrize(("step", "reason", "error"), BAD_STEPS, ids=repr)
def test_a_wrong_step_leaves_a_defect_line_for_each_kept_metric(make_collector, read_lines, step, reason, error):
    """A value whose place is unknown is no evidence; the metrics of the call are marked, training goes on."""
    make_collector().log({"m": 1.0, "n": 2.0, "other": 3.0}, step=step)
    defect = f"expected a step that is an int >= 0 or None, {reason}"
    assert read_lines() == [{"metric": name, "defect": defect, "step": None} for name in "mn"]


@pytest.mark.parametrize(("step", "reason", "error"), BAD_STEPS, ids=repr)
def test_strict_mode_raises_on_a_wrong_step(make_collector, records, step, reason, error):
    """Strict mode treats a wrong step as it treats a wrong value."""
    with pytest.raises(error, match=re.escape(reason)):
        make_collector(DRIFTGATE_STRICT="1").log({"m": 1.0}, step=step)
    assert list(records.iterdir()) == []


def test_other_keys_are_ignored_before_they_are_looked_at(make_collector, read_lines, capsys):
    """A value under a key that is not kept is never fetched or inspected; a key that is no string harms nothing."""

    class Lazy(Mapping):
        def __getitem__(self, key):
            assert key == "m", f"fetched {key!r}"
            return 1.0

        def __iter__(self):
            return iter(["other", 3, None, ("m",), "m"])

        def __len__(self):
            return 5

    collector = make_collector(DRIFTGATE_STRICT="1")
    collector.log(Lazy(), step=0)
    collector.log({"other": Untouchable(), 1: Untouchable(), "m": 2.0}, step=1)
    assert [line["series"] for line in read_lines()] == [[[0, 1.0]], [[1, 2.0]]]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("metrics", [None, 3, [("m", 1.0)], "m"], ids=repr)
def test_metrics_that_are_no_mapping_never_stop_training(make_collector, records, capsys, metrics):
    """One warning outside strict mode, TypeError inside it."""
    collector = make_collector()
    collector.log(metrics, step=0)
    collector.log(metrics, step=1)
    assert capsys.readouterr().err.count("expected a mapping of metrics") == 1
    with pytest.raises(TypeError, match="expected a mapping of metrics"):
        make_collector(DRIFTGATE_STRICT="1").log(metrics, step=0)
    assert list(records.iterdir()) == []


def test_the_built_in_list_is_kept_where_none_is_given(records, read_lines):
    """Without DRIFTGATE_METRICS exactly the specification's seven metrics are kept."""
    collector = Collector.from_env({"DRIFTGATE_RECORD_DIR": str(records)})
    collector.log(dict.fromkeys([*DEFAULT_METRICS, "train/loss"], 1), step=0)
    collector.finish()
    assert [line["metric"] for line in read_lines()] == list(DEFAULT_METRICS)
    assert len(DEFAULT_METRICS) == 7


@pytest.mark.parametrize(
    "text", ["train/ppo_kl", '{"m": 1}', '["m", 3]', "[" * 10_000, "null"], ids=lambda text: text[:9]
)
def test_a_malformed_whitelist_is_one_warning_and_the_built_in_list(records, read_lines, capsys, text):
    """A broken variable must not silently switch collecting off; strict mode raises."""
    env = {"DRIFTGATE_RECORD_DIR": str(records), "DRIFTGATE_METRICS": text}
    collector = Collector.from_env(env)
    collector.log({"train/ppo_kl": 1.0}, step=0)
    collector.finish()
    assert [line["metric"] for line in read_lines()] == ["train/ppo_kl"]
    assert capsys.readouterr().err.count("DRIFTGATE_METRICS is not a JSON list") == 1
    with pytest.raises(ValueError, match="DRIFTGATE_METRICS"):
        Collector.from_env(env | {"DRIFTGATE_STRICT": "1"})


def test_an_empty_whitelist_keeps_nothing_and_makes_no_file(make_collector, records):
    """An empty list is a choice, not a mistake; a process without kept metrics leaves no empty file."""
    make_collector([]).log({"train/ppo_kl": 1.0}, step=0)
    assert list(records.iterdir()) == []


@pytest.mark.parametrize("name", ['quote"backslash\\', "tab\tnewline\n", "größe/λ", "${jndi:ldap://x}", "a" * 5000, ""])
def test_any_metric_name_survives(make_collector, read_lines, name):
    """A name is written so that strict JSON gives it back, whatever characters it has."""
    collector = make_collector([name])
    collector.log({name: 1.0}, step=0)
    collector.log({name: None}, step=1)
    assert [line["metric"] for line in read_lines()] == [name, name]


def test_both_unicode_spellings_of_a_kept_name_are_kept(make_collector, read_lines):
    """Merging compares NFC forms, so a key typed in the other form must not be lost here."""
    make_collector(["caf\u00e9"]).log({"cafe\u0301": 1.0, "caf\u00e9": 2.0}, step=0)
    assert [line["series"][0][1] for line in read_lines()] == [1.0, 2.0]


@pytest.mark.parametrize("env", [{}, {"DRIFTGATE_RECORD_DIR": ""}], ids=["unset", "empty"])
def test_without_a_record_directory_nothing_is_looked_at(env, tmp_path, monkeypatch):
    """Collecting is off: even strict mode's mistakes pass, and no file appears."""
    monkeypatch.chdir(tmp_path)
    collector = Collector.from_env(env | {"DRIFTGATE_STRICT": "1"})
    collector.log(Untouchable(), step=Untouchable())
    collector.finish()
    assert list(tmp_path.iterdir()) == []


def test_a_relative_directory_is_the_one_at_the_start(tmp_path, monkeypatch):
    """Training that changes its working folder later still writes to the attempt's directory."""
    (tmp_path / "records").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    collector = Collector.from_env({"DRIFTGATE_RECORD_DIR": "records", "DRIFTGATE_METRICS": '["m"]'})
    monkeypatch.chdir(tmp_path / "elsewhere")
    collector.log({"m": 1.0}, step=0)
    collector.finish()
    assert len(list((tmp_path / "records").iterdir())) == 1


def test_logging_after_finish_continues_the_same_file(make_collector, read_lines):
    """Trainers finish their loggers after fit() and then log a test phase: nothing of it is lost."""
    collector = make_collector()
    collector.log({"m": 1.0}, step=0)
    collector.finish()
    collector.finish()
    collector.log({"m": 2.0}, step=1)
    assert [line["series"] for line in read_lines()] == [[[0, 1.0]], [[1, 2.0]]]
