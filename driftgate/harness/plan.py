"""What runs where: the one value that ``driftgate plan`` shows and ``driftgate run`` carries out.

Nothing is run to make it. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import BACKENDS, Config
from driftgate.harness.changed_files import Effect
from driftgate.harness.considering import Considered, Rules, considered, rules_of
from driftgate.harness.durations_file import Place, read_durations
from driftgate.harness.known_names import check_known
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.plan_tree import plan_tree
from driftgate.harness.registrations import Registration
from driftgate.harness.sharding import Shard, shard_of_each
from driftgate.harness.suite_needs import SuiteNeed, planned_waits, start_order
from driftgate.harness.suites_asked import Wish, needs_of_suites
from driftgate.harness.test_files import TestFile
from driftgate.harness.trigger import Trigger
from gate.errors import ConfigError
from gate.wording import printable


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What one call asks for. ``hw`` and ``suite`` narrow the plan; ``suite`` is where a test executes.

    ``shard`` None: every shard of every suite. ``file`` plans this file alone, whatever labels, cadence and nightly
    would say; with ``snapshot`` it is read as data from that untrusted checkout.
    """

    config: Config
    trigger: Trigger
    hw: str | None = None
    suite: str | None = None
    shard: Shard | None = None
    file: Path | None = None
    snapshot: Path | None = None
    changed_files: Path | None = None
    durations: Path | None = None
    match_all_labels: bool = False


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One test in the suite that executes it. ``cost_s`` is what sharding counted: learned, else as declared."""

    test: TestFile
    registration: Registration
    suite: str
    cost_s: float
    shard: Shard


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """``tests`` of all shards, in the order of their names; none where the suite is not needed.

    ``waits_for``: planned suites that must have passed before this one starts.
    """

    name: str
    need: SuiteNeed
    tests: tuple[PlannedTest, ...]
    shards: int
    waits_for: tuple[str, ...]

    def in_shard(self, index: int) -> tuple[PlannedTest, ...]:
        return tuple(test for test in self.tests if test.shard.index == index)


@dataclass(frozen=True, slots=True)
class Plan:
    """``suites`` are all that the request covers, in the order in which they start, those not needed last.

    ``considered`` holds every registration that was looked at, with what the rules made of it. ``effects`` is None
    where no changed files were given or counted.
    """

    request: PlanRequest
    rules: Rules
    considered: tuple[Considered, ...]
    suites: tuple[PlannedSuite, ...]
    effects: tuple[Effect, ...] | None
    warnings: tuple[PlanNotice, ...]

    @property
    def tests(self) -> tuple[PlannedTest, ...]:
        """What this call is to run, in plan order: the shard asked for, or everything."""
        shard = self.request.shard
        return tuple(
            test for suite in self.suites for test in suite.tests if shard is None or test.shard.index == shard.index
        )

    @property
    def covered(self) -> tuple[Considered, ...]:
        """Registrations that this request is about: at home on, or dispatched to, one of its suites."""
        names = {suite.name for suite in self.suites}
        return tuple(one for one in self.considered if not names.isdisjoint((one.registration.suite, *one.suites)))

    @property
    def disabled(self) -> tuple[Considered, ...]:
        return tuple(one for one in self.covered if one.registration.disabled is not None)

    @property
    def not_selected(self) -> tuple[Considered, ...]:
        """Enabled registrations that cadence, labels or scope leave out."""
        return tuple(one for one in self.covered if not one.decision.selected and one.registration.disabled is None)

    def shards_of(self, suite: PlannedSuite) -> range:
        """The shards of a suite that this call is about: the one asked for, or all."""
        shard = self.request.shard
        return range(suite.shards) if shard is None else range(shard.index, shard.index + 1)

    @property
    def skipped_suites(self) -> tuple[str, ...]:
        return tuple(suite.name for suite in self.suites if not suite.need.needed)

    @property
    def needs_image(self) -> Mapping[str, bool]:
        """For each GPU backend whether a test needs its image prepared."""
        used = {test.registration.backend for test in self.tests}
        return {backend: backend in used for backend in BACKENDS if backend != "cpu"}

    @property
    def bypass_fast_fail(self) -> bool:
        """Whether suites start and tests go on although others have failed."""
        return not self.rules.policy.fast_fail


def make_plan(request: PlanRequest) -> Plan:
    """Raises: ConfigError (options or labels that are unknown or contradict each other, a missing root), SourceError
    (every mistake of every file).
    """
    covered = _covered_suites(request)
    read = plan_tree(request.config, request.file, request.snapshot)
    tree, config = read.tree, read.config
    rules = rules_of(request.trigger, config, match_all=request.match_all_labels, file_given=request.file is not None)
    durations = read_durations(request.durations) if request.durations else {}
    found = considered(tree.files, rules, config)
    wish = Wish(request.suite, request.changed_files, request.trigger.requests.event or request.trigger.event)
    needs = needs_of_suites(wish, rules, found, config)
    placed = {name: _placed(name, found) if needs.of[name].needed else {} for name in covered}
    planned = [name for name in covered if placed[name]]
    waits = planned_waits(planned, config, fast_fail=rules.policy.fast_fail)
    suites = tuple(
        PlannedSuite(
            name,
            needs.of[name],
            _sharded(name, placed[name], request, durations),
            _shards(name, request),
            waits.get(name, ()),
        )
        for name in (*start_order(waits, config), *(name for name in covered if name not in planned))
    )
    warnings = (
        *rules.requests.warnings,
        *_about_scope(rules, covered, config),
        *tree.notices,
        *needs.warnings,
        *_about_durations(request, durations, suites),
    )
    return Plan(request, rules, found, suites, needs.effects, warnings)


def _about_scope(rules: Rules, covered: Iterable[str], config: Config) -> tuple[PlanNotice, ...]:
    """What the scope leaves out concerns neither one file that was asked for nor a plan of CPU suites alone."""
    has_gpus = any(config.suites[name].backend != "cpu" for name in covered)
    return rules.scope.warnings if has_gpus and not rules.file_given else ()


def _about_durations(
    request: PlanRequest, durations: Mapping[Place, float], suites: Iterable[PlannedSuite]
) -> Iterator[PlanNotice]:
    """A file of another project or of other suites would change nothing, unseen."""
    tests = [test for suite in suites for test in suite.tests]
    if request.durations is not None and tests and not any(_place(test) in durations for test in tests):
        text = (
            f"--durations: {printable(str(request.durations))} knows none of the planned tests; shards go by est_time"
        )
        yield PlanNotice("unknown_durations", text)


def _place(test: PlannedTest) -> Place:
    return (test.test.test_path, test.registration.backend, test.suite)


def _covered_suites(request: PlanRequest) -> tuple[str, ...]:
    """Raises ConfigError for a backend or suite that does not exist, or that do not belong together."""
    suites = request.config.suites
    check_known("--hw", request.hw, BACKENDS)
    check_known("--suite", request.suite, suites)
    if request.suite is not None and request.hw not in (None, suites[request.suite].backend):
        raise ConfigError(f"--suite: {request.suite} is a suite for {suites[request.suite].backend}, not {request.hw}")
    return tuple(
        name for name, suite in suites.items() if request.suite in (None, name) and request.hw in (None, suite.backend)
    )


def _placed(name: str, found: tuple[Considered, ...]) -> dict[str, Considered]:
    """The tests that the suite executes, each once: of two registrations that lead here, the one at home here."""
    here = [one for one in found if name in one.suites]
    here.sort(key=lambda one: (one.test.test_path, one.registration.suite == name))
    return {one.test.test_path: one for one in here}


def _sharded(
    name: str, placed: Mapping[str, Considered], request: PlanRequest, durations: Mapping[Place, float]
) -> tuple[PlannedTest, ...]:
    costs = {
        path: durations.get((path, one.registration.backend, name), one.registration.est_time_s)
        for path, one in placed.items()
    }
    count = _shards(name, request)
    shards = shard_of_each(costs, count)
    return tuple(_tests(name, placed, costs, {path: Shard(index, count) for path, index in shards.items()}))


def _tests(
    name: str, placed: Mapping[str, Considered], costs: Mapping[str, float], shards: Mapping[str, Shard]
) -> Iterator[PlannedTest]:
    for path, one in placed.items():
        yield PlannedTest(one.test, one.registration, name, costs[path], shards[path])


def _shards(name: str, request: PlanRequest) -> int:
    return request.shard.count if request.shard is not None else request.config.suites[name].shards
