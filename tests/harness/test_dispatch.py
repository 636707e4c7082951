"""On which suites a selected test runs."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from driftgate.config.load import load_config
from driftgate.harness.dispatch import Dispatched, SkippedPlace, dispatch
from driftgate.harness.label_requests import LabelRequests, read_requests
from driftgate.harness.registrations import Registration

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
H100, B200 = "stage-c-8-gpu-h100", "stage-c-8-gpu-b200"
HOPPER = Registration("cuda", H100, 1.0, ("megatron",), hardware=("hopper",))
BOTH = Registration("cuda", H100, 1.0, ("megatron",), hardware=("blackwell", "hopper"))
BLACKWELL = Registration("cuda", B200, 1.0, ("megatron",), hardware=("blackwell",))
SMALL = Registration("cuda", "stage-b-2-gpu-h200", 1.0, ("megatron",), hardware=("hopper", "blackwell"))
ROCM = Registration("rocm", "stage-c-4-gpu-mi350", 1.0, ("amd",))
CPU = Registration("cpu", "stage-a-cpu", 1.0)
IMPLICIT = Registration("cuda", H100, 1.0, implicit=True)


def placed(registration, *labels, config=CONFIG):
    return dispatch(registration, read_requests(labels, config), config)


def not_on(generation, supported):
    return SkippedPlace(generation, f"it supports {supported}, not {generation}")


@pytest.mark.parametrize(
    ("test", "labels", "suites", "skipped"),
    [
        # nobody asks for a generation: home
        (HOPPER, (), (H100,), ()),
        (BOTH, ("run-ci-megatron",), (H100,), ()),
        (BLACKWELL, ("run-ci-blackwell-only",), (B200,), ()),
        (BOTH, ("run-ci-blackwell-only", "run-ci-megatron"), (H100,), ()),
        # one generation
        (HOPPER, ("run-on-hopper",), (H100,), ()),
        (BOTH, ("run-on-hopper",), (H100,), ()),
        (BOTH, ("run-on-blackwell",), (B200,), ()),
        (SMALL, ("run-on-blackwell",), (B200,), ()),
        (SMALL, ("run-on-hopper",), ("stage-b-2-gpu-h200",), ()),
        (HOPPER, ("run-on-blackwell",), (), (not_on("blackwell", "hopper"),)),
        (BLACKWELL, ("run-on-hopper",), (), (not_on("hopper", "blackwell"),)),
        # both: once on each, the preferred one first
        (BOTH, ("run-on-blackwell", "run-on-hopper"), (H100, B200), ()),
        (SMALL, ("run-on-hopper", "run-on-blackwell"), ("stage-b-2-gpu-h200", B200), ()),
        (HOPPER, ("run-on-hopper", "run-on-blackwell"), (H100,), (not_on("blackwell", "hopper"),)),
        (BLACKWELL, ("run-on-hopper", "run-on-blackwell"), (B200,), (not_on("hopper", "blackwell"),)),
        # only CUDA tests move
        (CPU, ("run-on-blackwell",), ("stage-a-cpu",), ()),
        (ROCM, ("run-on-hopper", "run-on-blackwell"), ("stage-c-4-gpu-mi350",), ()),
        # a root's default registration names no hardware: its home's
        (IMPLICIT, ("run-on-hopper",), (H100,), ()),
        (IMPLICIT, ("run-on-blackwell",), (), (not_on("blackwell", "hopper"),)),
    ],
)
def test_where_a_test_of_the_preset_runs(test, labels, suites, skipped):
    """At home, or on each generation that is asked for and supported; what is skipped is told with the reason."""
    assert placed(test, *labels) == placed(test, *labels[::-1]) == Dispatched(suites, skipped)


PARK = """
preset = "none"
generations = ["ampere", "turing"]
[requests.generations]
on-ampere = "ampere"
on-turing = "turing"
[suites]
home = {backend = "cuda", generation = "ampere", gpus = 4}
rdma-home = {backend = "cuda", generation = "ampere", gpus = 4, capabilities = ["rdma"]}
huge-home = {backend = "cuda", generation = "ampere", gpus = 16}
odd-home = {backend = "cuda", generation = "ampere", gpus = 1, capabilities = ["rdma", "nvme", "ib"]}
tiny-ampere = {backend = "cuda", generation = "ampere", gpus = 1}
two = {backend = "cuda", generation = "turing", gpus = 2}
a-four = {backend = "cuda", generation = "turing", gpus = 4, capabilities = ["nvme", "ib"]}
four-z = {backend = "cuda", generation = "turing", gpus = 4, capabilities = ["nvme"]}
four-b = {backend = "cuda", generation = "turing", gpus = 4, capabilities = ["nvme"]}
four-rdma = {backend = "cuda", generation = "turing", gpus = 4, capabilities = ["rdma", "nvme"]}
eight = {backend = "cuda", generation = "turing", gpus = 8}
eight-rdma = {backend = "cuda", generation = "turing", gpus = 8, capabilities = ["rdma"]}
rocm-turing = {backend = "rocm", generation = "turing", gpus = 4}
"""


@pytest.fixture(scope="module")
def park(tmp_path_factory):
    """Another project's machines, with names of its own."""
    folder = tmp_path_factory.mktemp("park")
    (folder / "driftgate.toml").write_text(PARK)
    return load_config(file=None, start=folder, env={}, options={})


def in_park(home, num_gpus=None):
    return Registration("cuda", home, 1.0, hardware=("ampere", "turing"), num_gpus=num_gpus)


@pytest.mark.parametrize(
    ("home", "num_gpus", "suite"),
    [
        ("home", None, "four-b"),  # as many GPUs as home: fewest GPUs, then fewest capabilities, then the name
        ("home", 4, "four-b"),
        ("home", 3, "four-b"),
        ("home", 2, "two"),  # its own number is less than home's
        ("home", 1, "two"),
        ("rdma-home", None, "four-rdma"),  # fewest GPUs before fewest capabilities
        ("rdma-home", 1, "four-rdma"),  # however few GPUs, the capability is kept
        ("tiny-ampere", None, "two"),
        ("huge-home", 8, "eight"),
    ],
)
def test_the_smallest_fitting_suite_takes_a_test_that_leaves_home(park, home, num_gpus, suite):
    """Enough GPUs, all capabilities of home; then fewest GPUs, fewest capabilities, name."""
    assert placed(in_park(home, num_gpus), "on-turing", config=park) == Dispatched((suite,))


@pytest.mark.parametrize(
    ("home", "need"),
    [("huge-home", "16 GPUs"), ("odd-home", "1 GPU, rdma, nvme, ib")],
)
def test_a_test_that_fits_nowhere_is_skipped(park, home, need):
    """Too many GPUs, or a capability that no suite of the generation offers; it still runs where it fits."""
    skipped = SkippedPlace("turing", f"no suite of turing has what it needs: {need}")
    assert placed(in_park(home), "on-turing", config=park) == Dispatched((), (skipped,))
    assert placed(in_park(home), "on-turing", "on-ampere", config=park) == Dispatched((home,), (skipped,))


def test_a_home_of_the_generation_is_kept(park):
    """Even where a smaller suite of that generation would do."""
    assert placed(in_park("home", 1), "on-ampere", config=park) == Dispatched(("home",))


GENERATIONS = ("ampere", "turing")


@st.composite
def cases(draw, load):
    """Any park of machines, and any test that is registered as it must be."""
    names = draw(st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=8, unique=True))
    suites = {
        name: {
            "backend": "cuda",
            "generation": draw(st.sampled_from(GENERATIONS)),
            "gpus": draw(st.integers(1, 8)),
            "capabilities": draw(st.lists(st.sampled_from(["rdma", "nvme", "ib"]), unique=True)),
        }
        for name in names
    }
    home = draw(st.sampled_from(names))
    others = draw(st.sets(st.sampled_from(GENERATIONS)))
    num_gpus = draw(st.none() | st.integers(1, suites[home]["gpus"]))
    hardware = tuple(sorted({suites[home]["generation"], *others}))
    return load(suites), Registration("cuda", home, 1.0, hardware=hardware, num_gpus=num_gpus)


def parked(suites):
    options = {f"suites.{name}.{key}": value for name, row in suites.items() for key, value in row.items()}
    return load_config(
        file=None, start=Path("/"), env={}, options={"preset": "none", "generations": list(GENERATIONS), **options}
    )


@given(cases(parked), st.sets(st.sampled_from(GENERATIONS)))
def test_laws_of_dispatch(case, generations):
    """Never fewer GPUs than needed, never a lost capability, each generation answered once, home where home fits."""
    config, test = case
    home = config.suites[test.suite]
    requests = LabelRequests(generations=tuple(sorted(generations)))
    found = dispatch(test, requests, config)
    assert found == dispatch(test, requests, config)
    if not generations:
        assert found == Dispatched((home.name,))
        return
    places = [config.suites[name] for name in found.suites]
    assert sorted([place.generation for place in places] + [place.generation for place in found.skipped]) == sorted(
        generations
    )
    for place in places:
        assert place.generation in test.hardware
        assert place.gpus >= (test.num_gpus or home.gpus)
        assert set(place.capabilities) >= set(home.capabilities)
        assert place == home or place.generation != home.generation
    assert (home in places) is (home.generation in generations)


@given(cases(parked), st.randoms(use_true_random=False))
def test_the_order_of_the_tables_does_not_matter(case, random):
    """The same machines written in another order give the same suite."""
    config, test = case
    assume(len(config.suites) > 1)
    names = list(config.suites)
    random.shuffle(names)
    rows = {
        name: {"backend": "cuda", "generation": suite.generation, "gpus": suite.gpus, "capabilities": list(suite.capabilities)}
        for name, suite in ((name, config.suites[name]) for name in names)
    }  # fmt: skip
    requests = LabelRequests(generations=GENERATIONS)
    assert dispatch(test, requests, parked(rows)) == dispatch(test, requests, config)
