"""What the labels of a pull request, or of ``--label``, ask for. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from driftgate.config.label_names import request_labels
from driftgate.config.model import Config, ScopeRequest
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.safe_labels import safe_labels
from gate.errors import ConfigError
from gate.wording import closest, listed, nearest, shown

_EXPLAINED = 5
"""Unknown labels that are looked up one by one: likeness is slow, and people read no more."""


@dataclass(frozen=True, slots=True)
class LabelRequests:
    """``labels`` of ``[labels]`` whose tests are asked for; ``scopes`` in order of precedence;
    ``generations`` that tests are to run on, most preferred first.
    """

    labels: frozenset[str] = frozenset()
    scopes: tuple[ScopeRequest, ...] = ()
    generations: tuple[str, ...] = ()
    warnings: tuple[PlanNotice, ...] = ()


def read_requests(labels: Sequence[str], config: Config) -> LabelRequests:
    """``labels`` in any order, unfiltered; what asks for nothing is left alone, or told where it looks like a request.

    Raises ConfigError where two requests contradict each other.
    """
    rules = config.requests
    safe = safe_labels(labels, lambda label: looks_like_request(label, config))
    given = set(safe.labels)
    wanted = {generation for label, generation in rules.generations.items() if label in given}
    _refuse_contradictions(given, config)
    return LabelRequests(
        labels=frozenset(label for label in config.labels if rules.prefix + label in given),
        scopes=tuple(request for label, request in rules.scopes.items() if label in given),
        generations=tuple(generation for generation in config.generations if generation in wanted),
        warnings=(*safe.warnings, *_about_unknown(safe.labels, config)),
    )


def looks_like_request(label: str, config: Config) -> bool:
    """Whether it begins as requests do, whatever the case of its letters."""
    prefixes = (config.requests.prefix.casefold(), config.requests.generation_prefix.casefold())
    return label.casefold().startswith(prefixes)


def asked_labels(labels: Iterable[str], config: Config) -> list[str]:
    """The labels that ``--label`` means: ``megatron`` is short for ``run-ci-megatron``.

    One that looks like a request but is none is left to ``read_requests``, which tells it. Raises ConfigError for any
    other: nobody gives an option that shall mean nothing.
    """
    known = frozenset(request_labels(config))
    return [label if label in known else _asked_label(label, known, config) for label in labels]


def _asked_label(label: str, known: Iterable[str], config: Config) -> str:
    if label in config.labels:
        return config.requests.prefix + label
    if looks_like_request(label, config):
        return label
    meant = nearest(label, [*config.labels, *sorted(known)])
    valid = f"a label of [labels] ({listed(config.labels) or 'none'}) or one of [requests]"
    raise ConfigError(f"--label: unknown {shown(label)}{meant}; give {valid}")


def _about_unknown(labels: Iterable[str], config: Config) -> list[PlanNotice]:
    known = frozenset(request_labels(config))
    unknown = [label for label in labels if label not in known and looks_like_request(label, config)]
    texts = [
        f"label {label} is unknown and asks for nothing{_meant(label, known, config)}" for label in unknown[:_EXPLAINED]
    ]
    if len(unknown) > _EXPLAINED:
        texts.append(f"{len(unknown) - _EXPLAINED} more unknown labels ask for nothing")
    return [PlanNotice("unknown_label", text) for text in texts]


def _meant(label: str, known: Iterable[str], config: Config) -> str:
    """Prefixes are left out of the comparison: what they share would make any two labels alike."""
    for prefix in (config.requests.prefix, config.requests.generation_prefix):
        if label.casefold().startswith(prefix.casefold()):
            stems = {name[len(prefix) :].casefold(): name for name in sorted(known) if name.startswith(prefix)}
            stem = closest(label[len(prefix) :].casefold(), stems)
            return f"; did you mean {stems[stem]}?" if stem is not None else ""
    return ""


def _refuse_contradictions(given: Collection[str], config: Config) -> None:
    """Labels that want one generation alone are held against each other, and against those that want another one."""
    rules = config.requests
    alone = [(r.label, r.only_generation) for r in rules.scopes.values() if r.label in given and r.only_generation]
    placing = [item for item in rules.generations.items() if item[0] in given]
    for (label, only), (other, generation) in product(alone, (*alone, *placing)):
        if only != generation:
            raise ConfigError(
                f"labels {label} and {other} contradict each other: "
                f"the one wants {only} alone, the other {generation}; drop one"
            )
