"""Why one test file is in a plan or not, rule by rule. Pure but for a look at the file; standard library only."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from driftgate.config.model import Config
from driftgate.harness.considering import Considered
from driftgate.harness.plan import Plan, PlannedTest
from driftgate.harness.test_files import root_of, series_path
from gate.wording import clipped, listed, nearest, printable


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule says. ``stops``: the test does not run because of it."""

    rule: str
    text: str
    stops: bool = False


@dataclass(frozen=True, slots=True)
class PlaceStory:
    """One registration; ``runs_on`` are the suites where this plan runs it."""

    title: str
    steps: tuple[Step, ...]
    runs_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """``discovered`` says where the file was found, or why it was not; then there are no ``places``."""

    file: str
    discovered: Step
    places: tuple[PlaceStory, ...]

    @property
    def planned(self) -> bool:
        return any(place.runs_on for place in self.places)


def explain(file: Path, plan: Plan) -> Explanation:
    """``file`` as a person names it: from the working folder or from the repository root."""
    name = _name(file, plan)
    here = [one for one in plan.considered if one.test.test_path == name]
    discovered = _discovered(name, plan) if here else _not_discovered(name, plan)
    return Explanation(name, discovered, tuple(_place(one, plan) for one in here))


def explanation_lines(found: Explanation) -> Iterator[str]:
    """For people, one fact a line."""
    yield f"{printable(found.file)}: {'runs' if found.planned else 'does not run'}"
    yield _line(found.discovered)
    for place in found.places:
        yield f"  {place.title}"
        yield from (f"  {_line(step)}" for step in place.steps)
        yield f"    => {'runs on ' + listed(place.runs_on) if place.runs_on else 'does not run'}"


def explanation_json(found: Explanation) -> dict[str, Any]:
    return {
        "schema": 1,
        "file": found.file,
        "planned": found.planned,
        "discovered": _step_json(found.discovered),
        "registrations": [
            {"title": place.title, "runs_on": list(place.runs_on), "rules": [_step_json(step) for step in place.steps]}
            for place in found.places
        ],
    }


def _line(step: Step) -> str:
    return f"  {'no ' if step.stops else 'yes'} {step.rule}: {step.text}"


def _step_json(step: Step) -> dict[str, Any]:
    return {"rule": step.rule, "passes": not step.stops, "text": step.text}


def _name(file: Path, plan: Plan) -> str:
    known = {one.test.test_path for one in plan.considered}
    name = series_path(file, plan.request.config.repository)
    as_given = file.as_posix()
    return as_given if name not in known and as_given in known else name


def _discovered(name: str, plan: Plan) -> Step:
    root = root_of(name, plan.request.config)
    if plan.request.file is not None:
        return Step("discovered", "given by --file")
    return Step(
        "discovered", f"root {root.path}, pattern {root.pattern}" if root is not None else "by [discovery] roots"
    )


def _not_discovered(name: str, plan: Plan) -> Step:
    return Step("discovered", _why_not_discovered(name, plan), stops=True)


def _why_not_discovered(name: str, plan: Plan) -> str:
    config = plan.request.config
    if plan.request.file is not None:
        return f"this plan is about --file {printable(str(plan.request.file))} alone"
    known = [one.test.test_path for one in plan.considered]
    root = root_of(name, config)
    mode = _mode(config.repository / name)
    if mode is None:
        meant = nearest(name, known) or _same_name(name, known)
        return f"there is no such file in {printable(str(config.repository))}{meant}"
    if stat.S_ISDIR(mode):
        return "it is a folder; name a test file"
    if root is None:
        return f"outside of the roots ({_roots(config)}); move it, or add its folder to [discovery] roots"
    if not fnmatchcase(Path(name).name, root.pattern):
        return f"its name does not match the pattern {root.pattern} of root {root.path}; rename it"
    return "its folder is left out: hidden folders, caches, virtual environments and links to folders are not searched"


def _mode(path: Path) -> int | None:
    """None where there is nothing, or nothing that can be looked at."""
    try:
        return path.stat().st_mode
    except OSError:
        return None


def _roots(config: Config) -> str:
    return listed(root.path for root in config.roots)


def _same_name(name: str, known: list[str]) -> str:
    """A file of that name in another folder."""
    alike = [path for path in known if Path(path).name == Path(name).name]
    return f" (did you mean {alike[0]!r}?)" if alike else ""


def _place(one: Considered, plan: Plan) -> PlaceStory:
    registration = one.registration
    how = "by its root's default" if registration.implicit else f"in line {registration.line}"
    labels = f", labels {listed(registration.labels)}" if registration.labels else ""
    title = f"registered {how} for {registration.backend}, home {registration.suite}{labels}"
    steps, runs_on = list(_selection(one, plan)), []
    for name in one.suites:
        more = tuple(_in_suite(one, name, plan))
        steps += more
        if not any(step.stops for step in more):
            runs_on.append(name)
    return PlaceStory(title, tuple(steps), tuple(runs_on))


def _selection(one: Considered, plan: Plan) -> Iterator[Step]:
    """Up to the rule that stops it."""
    decision, cadence = one.decision, plan.rules.policy.cadence.name
    if decision.rule == "disabled":
        yield Step("enabled", f"disabled: {printable(clipped(one.registration.disabled or ''))}", stops=True)
        return
    yield Step("enabled", "not disabled")
    if decision.rule == "nightly_only":
        yield Step("cadence", decision.reason, stops=True)
        return
    yield Step("cadence", f"cadence {cadence} {'admits nightly tests' if one.registration.nightly else 'admits it'}")
    yield Step("labels", decision.reason, stops=not decision.selected)
    for place in one.skipped:
        yield Step("place", f"not on {place.generation}: {place.reason}", stops=not one.suites)


def _in_suite(one: Considered, name: str, plan: Plan) -> Iterator[Step]:
    """The rules for one suite that would execute it, up to the one that stops it."""
    yield Step("place", f"{name}, {'its home' if name == one.registration.suite else 'where labels ask for it'}")
    suite = next((suite for suite in plan.suites if suite.name == name), None)
    if suite is None:
        yield Step("request", f"{name} is not what {_narrowing(plan)} asks for", stops=True)
        return
    yield Step("suite", f"{name}: {suite.need.reason}", stops=not suite.need.needed)
    for test in suite.tests:
        if test.test.test_path == one.test.test_path:
            yield from _in_shard(test, one, plan)


def _in_shard(test: PlannedTest, one: Considered, plan: Plan) -> Iterator[Step]:
    shard, asked = test.shard, plan.request.shard
    if test.registration != one.registration:
        text = f"its registration for {test.registration.suite} runs it there already; it runs once"
        yield Step("once", text, stops=True)
    elif asked is not None:
        text = f"it is in shard {shard.index}/{shard.count}, this plan is for {asked.index}/{asked.count}"
        yield Step("shard", text, stops=shard != asked)
    elif shard.count > 1:
        yield Step("shard", f"in shard {shard.index}/{shard.count}")


def _narrowing(plan: Plan) -> str:
    request = plan.request
    given = {"--hw": request.hw, "--suite": request.suite}
    return " and ".join(f"{option} {value}" for option, value in given.items() if value is not None)
