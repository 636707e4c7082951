"""`parse_ci_gate_specs`: declarations as the reference hands them out."""

import pytest

from driftgate.compat import GATE_DEFAULTS, CiGateSpec, parse_ci_gate_specs

BAND = '{"rel_up": 0.2, "rel_down": 0.2}'
REJECTED = {
    "no metric": 'steps="last", constraint=B',
    "no steps": 'metric_key="train/x", constraint=B',
    "no constraint": 'metric_key="train/x", steps="last"',
    "no default": 'metric_key="train/unknown"',
    "unknown argument": 'metric_key="train/x", steps="last", constraint=B, bogus=3',
    "not a literal": 'metric_key="train/x", steps=X, constraint=B',
    "not a literal inside": 'metric_key="train/x", steps="last", constraint={"rel_up": X, "rel_down": 0.2}',
    "by position": '"train/x", "last"',
    "spread": "**X",
    "unknown steps": 'metric_key="train/x", steps="median", constraint=B',
    "a number for steps": 'metric_key="train/x", steps=0, constraint=B',
    "empty steps": 'metric_key="train/x", steps=[], constraint=B',
    "a float step": 'metric_key="train/x", steps=[1.5], constraint=B',
    "a bool step": 'metric_key="train/x", steps=[True], constraint=B',
    "a negative step": 'metric_key="train/x", steps=[-1], constraint=B',
    "a step twice": 'metric_key="train/x", steps=[0, 0], constraint=B',
    "no upper side": 'metric_key="train/x", steps="last", constraint={"rel_down": 0.2}',
    "no lower side": 'metric_key="train/x", steps="last", constraint={"rel_up": 0.2}',
    "unknown parameter": 'metric_key="train/x", steps="last", constraint={"rel_up": 0.2, "rel_down": 0.2, "name": "band"}',
    "negative band": 'metric_key="train/x", steps="last", constraint={"rel_up": -0.2, "rel_down": 0.2}',
    "infinite band": 'metric_key="train/x", steps="last", constraint={"rel_up": 1e999, "rel_down": 0.2}',
    "a key twice": 'metric_key="train/x", steps="last", constraint={"rel_up": 0.2, "rel_up": 0.3, "rel_down": 0.2}',
    "enforce is no bool": 'metric_key="train/x", steps="last", constraint=B, enforce=1',
    "reason is no text": 'metric_key="train/x", steps="last", constraint=B, allowlist_reason=3',
}
BEYOND = {
    "reduction": 'steps={"reduce": "mean"}, constraint=B',
    "limits": 'steps="last", constraint=B, limits={"min": 0.0}',
    "expect_points": 'steps="last", constraint=B, expect_points=10',
    "checks": 'steps="last", constraint=B, checks=["anchor"]',
}


def _call(arguments):
    return f"register_ci_gate({arguments.replace('=B', f'={BAND}')})\n"


def test_a_declaration_with_every_field(test_file):
    """Steps and constraint as written, the constraint filled up with zeros, keys from the literals alone."""
    name = test_file(
        'register_ci_gate(metric_key="train/ppo_kl", steps=[0,  1], enforce=True, allowlist_reason="known",\n'
        '    constraint={"abs_floor_up": 1e-6, "rel_up": 0.5, "rel_down": 0.8})\n'
    )
    assert parse_ci_gate_specs(name) == [
        CiGateSpec(
            name,
            "train/ppo_kl",
            [0, 1],
            {"rel_up": 0.5, "abs_floor_up": 1e-6, "rel_down": 0.8, "abs_floor_down": 0.0},
            "[0,1]",
            '{"abs_floor_up":1e-06,"rel_down":0.8,"rel_up":0.5}',
            True,  # noqa: FBT003 - positional order is the point
            "known",
        )
    ]


def test_every_default_is_a_whole_declaration(test_file):
    """One line for each metric of the table is enough, and its literals make the keys."""
    specs = parse_ci_gate_specs(test_file("".join(f'register_ci_gate(metric_key="{key}")\n' for key in GATE_DEFAULTS)))
    assert [spec.metric_key for spec in specs] == list(GATE_DEFAULTS)
    assert {(spec.enforce, spec.allowlist_reason) for spec in specs} == {(False, None)}
    assert specs[1].constraint_key == '{"abs_floor_down":0.02,"abs_floor_up":0.02,"rel_down":0.8,"rel_up":0.5}'


def test_a_written_literal_wins_over_the_table(test_file):
    """Each field is filled by itself."""
    (spec,) = parse_ci_gate_specs(test_file(_call('metric_key="rollout/raw_reward", constraint=B')))
    assert (spec.steps, spec.constraint_key) == ("all", '{"rel_down":0.2,"rel_up":0.2}')


def test_a_row_added_to_the_table_is_used(test_file, monkeypatch):
    """The table is the caller's to change, as there."""
    monkeypatch.setitem(GATE_DEFAULTS, "mine", {"steps": "last", "constraint": {"rel_up": 1, "rel_down": 1}})
    (spec,) = parse_ci_gate_specs(test_file('register_ci_gate(metric_key="mine")\n'))
    assert (spec.steps_key, spec.constraint_key) == ('"last"', '{"rel_down":1,"rel_up":1}')


@pytest.mark.parametrize("arguments", REJECTED.values(), ids=REJECTED)
def test_a_bad_declaration_is_a_value_error_with_its_place(arguments, test_file):
    """It names file and line."""
    name = test_file(_call(arguments))
    with pytest.raises(ValueError, match=r"test_a\.py:2: register_ci_gate"):
        parse_ci_gate_specs(name)


@pytest.mark.parametrize(("parameter", "arguments"), BEYOND.items(), ids=BEYOND)
def test_what_this_gate_cannot_judge_is_refused(parameter, arguments, test_file):
    """Nothing that is declared goes unjudged in silence."""
    with pytest.raises(ValueError, match="corridor alone"):
        parse_ci_gate_specs(test_file(_call(f'metric_key="train/x", {arguments}')))


def test_all_mistakes_come_together(test_file):
    """One line each."""
    with pytest.raises(ValueError, match="register_ci_gate") as caught:
        parse_ci_gate_specs(test_file(_call(REJECTED["no steps"]) + _call(REJECTED["unknown argument"])))
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["2", "3"]


def test_a_file_that_cannot_be_read(test_file):
    """Missing is an OSError, what is no Python a ValueError."""
    with pytest.raises(FileNotFoundError):
        parse_ci_gate_specs("missing.py")
    with pytest.raises(ValueError, match="not valid Python"):
        parse_ci_gate_specs(test_file("def (\n"))


def test_a_file_without_a_declaration_has_none(test_file):
    """The calls of other names do not matter."""
    assert parse_ci_gate_specs(test_file("print(1)\n")) == []
