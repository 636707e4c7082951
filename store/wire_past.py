"""The whole past of a series as a document, see `store.wire`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.identity import SpecKey
from gate.past import PastEpoch, PastRun, PastValues, SeriesPast
from store.wire import (
    SCHEMA,
    Document,
    Once,
    check_schema,
    facts_from,
    identity_from,
    key_from,
    key_json,
    promised,
    time_from,
    time_json,
)

_RUN_FACTS = (
    "run_id",
    "seq",
    "trusted",
    "gate_trusted",
    "has_error",
    "marked",
    "untrusted_reason",
    "superseded_by",
    "ci_run_id",
    "commit_sha",
    "verdict",
)


def past_json(past: SeriesPast) -> dict[str, Any]:
    """Keys once for each gate spec, steps once for each set of them: rows of values name both by their place."""
    keys, steps = Once[SpecKey](), Once[bytes]()
    runs = [
        {
            **{name: getattr(run, name) for name in _RUN_FACTS},
            "created_at": time_json(run.created_at),
            "values": [
                {
                    "key": keys.place(one.key),
                    "steps": steps.place(one.steps.tobytes()),
                    "values": np.ascontiguousarray(one.values),
                    "trusted": one.trusted,
                    "points": one.points,
                    "at_step": one.at_step,
                }
                for one in run.values
            ],
        }
        for run in past.runs
    ]
    return {
        "schema": SCHEMA,
        "series": asdict(past.identity),
        "keys": [key_json(key) for key in keys.all],
        "steps": [np.frombuffer(raw, np.int64) for raw in steps.all],
        "runs": runs,
        "epochs": [{**asdict(epoch), "place": [time_json(epoch.place[0]), epoch.place[1]]} for epoch in past.epochs],
    }


def past_from(document: Document) -> SeriesPast:
    """Raises NotAsPromised."""
    with promised():
        check_schema(document)
        keys = [key_from(key) for key in document["keys"]]
        steps = [np.array(given, np.int64) for given in document["steps"]]
        runs = (
            facts_from(
                PastRun,
                run,
                values=tuple(_values(one, keys[one["key"]], steps[one["steps"]]) for one in run["values"]),
            )
            for run in document["runs"]
        )
        return SeriesPast(identity_from(document["series"]), tuple(runs), tuple(map(_epoch, document["epochs"])))


def _values(document: Document, key: SpecKey, steps: NDArray[np.int64]) -> PastValues:
    values = np.array(document["values"], np.float64)
    if values.shape != steps.shape:
        raise ValueError("as many values as steps are needed")
    return PastValues(key, steps, values, document["trusted"], document["points"], document["at_step"])


def _epoch(document: Document) -> PastEpoch:
    created_at, seq = document["place"]
    return facts_from(PastEpoch, document, place=(time_from(created_at), seq))
