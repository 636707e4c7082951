"""Gate declarations: what is read, what identifies it, and every mistake with its words."""

import pytest

from gate.declarations import parse_declarations
from gate.identity import SpecKey
from gate.spec import DRIFT_CHECKS, Constraint, ExpectPoints, Limits, MetricDefault, Reduction

DEFAULTS = {
    "train/ppo_kl": MetricDefault("all", {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8}),
    "train/caf\u00e9": MetricDefault("last", {"rel_up": 1, "rel_down": 1}),
}
BAND = 'constraint={"rel_up": 1, "rel_down": 1}'
BAND_KEY = '{"rel_down":1,"rel_up":1}'


def declare(arguments):
    return parse_declarations("tests/test_a.py", f"register_ci_gate({arguments})", DEFAULTS)


def spec_of(arguments):
    specs, problems = declare(arguments)
    assert not problems
    return specs[0]


def problem_of(arguments):
    specs, problems = declare(arguments)
    assert not specs
    (problem,) = problems
    assert (problem.file, problem.line, problem.call) == ("tests/test_a.py", 1, "register_ci_gate")
    return problem


def test_a_metric_of_the_defaults_table_needs_no_more():
    """The defaults' literals become the key, as if they were written in the file."""
    spec = spec_of('metric_key="train/ppo_kl"')
    assert spec.key == SpecKey("train/ppo_kl", '"all"', '{"abs_floor_up":0.02,"rel_down":0.8,"rel_up":0.5}')
    assert (spec.steps, spec.constraint) == ("all", Constraint(0.5, 0.02, 0.8, 0.0))
    assert (spec.limits, spec.expect_points, spec.enforce, spec.checks) == (None, None, False, DRIFT_CHECKS)


def test_a_default_fills_a_whole_constraint_never_one_parameter():
    """What a declaration writes stands alone."""
    spec = spec_of('metric_key="train/ppo_kl", constraint={"rel_up": 2.0, "rel_down": 3}')
    assert spec.constraint == Constraint(rel_up=2.0, rel_down=3.0)
    assert spec.key.constraint_key == '{"rel_down":3,"rel_up":2.0}'
    assert spec.steps == "all"


@pytest.mark.parametrize(
    ("literal", "steps", "key"),
    [
        ('"last"', "last", '"last"'),
        ('"all"', "all", '"all"'),
        ("[9, 0, 1]", (9, 0, 1), "[9,0,1]"),
        ('{"reduce": "mean"}', Reduction("mean"), '{"reduce":"mean"}'),
        ('{"reduce": "p95", "last": 20}', Reduction("p95", 20), '{"last":20,"reduce":"p95"}'),
        ('{"reduce": "min", "from": 0}', Reduction("min", None, 0), '{"from":0,"reduce":"min"}'),
    ],
)
def test_the_forms_of_steps(literal, steps, key):
    """Each form has its value and its canonical key."""
    spec = spec_of(f'metric_key="x", steps={literal}, {BAND}')
    assert (spec.steps, spec.key.steps_key) == (steps, key)


@pytest.mark.parametrize(
    ("argument", "field", "value"),
    [
        ('limits={"min": -1, "max": 1.5}', "limits", Limits(-1.0, 1.5)),
        ('limits={"max": 0}', "limits", Limits(None, 0.0)),
        ('limits={"min": 2, "max": 2}', "limits", Limits(2.0, 2.0)),
        ("expect_points=100", "expect_points", ExpectPoints(100)),
        ('expect_points={"min": 80}', "expect_points", ExpectPoints(80, at_least=True)),
        ('enforce=True, allowlist_reason="stable"', "enforce", True),
        ('allowlist_reason="stable since August"', "allowlist_reason", "stable since August"),
        ('checks=["shift", "anchor"]', "checks", ("anchor", "shift")),
        ('checks=["shift"]', "checks", ("shift",)),
        ("checks=[]", "checks", ()),
    ],
)
def test_policy_fields_enter_no_key(argument, field, value):
    """What is judged has an address; how strictly is not part of it."""
    spec = spec_of(f'metric_key="x", steps="all", {BAND}, {argument}')
    assert getattr(spec, field) == value
    assert spec.key == SpecKey("x", '"all"', BAND_KEY)


def test_a_constraint_may_be_zero_where_it_says_so():
    """An exact value is asked for in writing, never by leaving a side out."""
    constraint = spec_of('metric_key="x", steps="all", constraint={"rel_up": 0, "abs_floor_down": 0}').constraint
    assert constraint == Constraint()


def test_a_metric_name_is_normalised_before_it_is_looked_up():
    """Two spellings of one name in Unicode are one metric."""
    assert spec_of('metric_key="train/cafe\\u0301"').metric_key == "train/caf\u00e9"


MISTAKES = [
    # metric_key
    ('steps="all", ' + BAND, "metric_key", "missing; name the metric"),
    (f'metric_key="", steps="all", {BAND}', "metric_key", "found ''; write the metric's name"),
    (f'metric_key=3, steps="all", {BAND}', "metric_key", "found 3; write the metric's name"),
    (f'metric_key="a\\nb", steps="all", {BAND}', "metric_key", "remove the control characters"),
    (f'metric_key="a\\ud800", steps="all", {BAND}', "metric_key", "remove the control characters"),
    ('metric_key="train/ppo_k1"', "metric_key", "has no default (did you mean 'train/ppo_kl'?); give steps and constr"),
    (f'metric_key="new", {BAND}', "steps", "'new' has no default; give steps"),
    ('metric_key="new", steps="all"', "constraint", "'new' has no default; give constraint"),
    # steps
    (f'metric_key="x", steps="lst", {BAND}', "steps", "found 'lst' (did you mean 'last'?); valid: \"last\""),
    (f'metric_key="x", steps=None, {BAND}', "steps", "found None; valid"),
    (f'metric_key="x", steps=3, {BAND}', "steps", "found 3; valid"),
    (f'metric_key="x", steps=(0, 1), {BAND}', "steps", "found (0, 1); valid"),
    (f'metric_key="x", steps=[], {BAND}', "steps", "found an empty list; valid"),
    (f'metric_key="x", steps=[-1], {BAND}', "steps", "found -1 in the list"),
    (f'metric_key="x", steps=[True], {BAND}', "steps", "found True in the list"),
    (f'metric_key="x", steps=[1.0], {BAND}', "steps", "found 1.0 in the list"),
    (f'metric_key="x", steps=[{2**63}], {BAND}', "steps", "in the list; write steps as ints >= 0"),
    (f'metric_key="x", steps=[3, 3], {BAND}', "steps", "steps 3 listed twice"),
    (f'metric_key="x", steps={{}}, {BAND}', "steps", "found no reduce; valid: mean, median"),
    (f'metric_key="x", steps={{"reduce": "meen"}}, {BAND}', "steps", "reduce 'meen' (did you mean 'mean'?); valid"),
    (f'metric_key="x", steps={{"reduce": ["mean"]}}, {BAND}', "steps", "found reduce ['mean']"),
    (f'metric_key="x", steps={{"reduc": "mean"}}, {BAND}', "steps", "unknown key 'reduc' (did you mean 'reduce'?)"),
    (f'metric_key="x", steps={{"reduce": "mean", "last": 0}}, {BAND}', "steps", "found last 0; write an int >= 1"),
    (f'metric_key="x", steps={{"reduce": "mean", "from": -1}}, {BAND}', "steps", "found from -1; write an int >= 0"),
    (f'metric_key="x", steps={{"reduce": "mean", "last": True}}, {BAND}', "steps", "found last True"),
    # constraint
    ('metric_key="x", steps="all", constraint=[1]', "constraint", "found [1]; write a dict of rel_up"),
    ('metric_key="x", steps="all", constraint={"rel_up": 1}', "constraint", "a band of zero: give rel_down or abs_fl"),
    ('metric_key="x", steps="all", constraint={"rel_down": 1}', "constraint", "a band of zero: give rel_up or abs_fl"),
    ('metric_key="x", steps="all", constraint={"rel_up": 1, "rel_dwn": 1}', "constraint", "did you mean 'rel_down'?"),
    ('metric_key="x", steps="all", constraint={"rel_up": -1, "rel_down": 1}', "constraint", "found rel_up -1; write"),
    ('metric_key="x", steps="all", constraint={"rel_up": True, "rel_down": 1}', "constraint", "found rel_up True"),
    ('metric_key="x", steps="all", constraint={"rel_up": "1", "rel_down": 1}', "constraint", "found rel_up '1'"),
    ('metric_key="x", steps="all", constraint={"rel_up": 1e999, "rel_down": 1}', "constraint", "found rel_up inf"),
    (f'metric_key="x", steps="all", constraint={{"rel_up": {10**400}, "rel_down": 1}}', "constraint", "found rel_up 1000"),
    (f'metric_key="x", steps="all", constraint={{"rel_up": 0x{"f" * 9999}, "rel_down": 1}}', "constraint", "too large to show"),
    ('metric_key="x", steps="all", constraint={1: 1, "rel_up": 1, "rel_down": 1}', "constraint", "unknown key 1"),
    # policy
    (f'metric_key="x", steps="all", {BAND}, limits={{}}', "limits", 'found {}; write {"min": number}'),
    (f'metric_key="x", steps="all", {BAND}, limits=3', "limits", "found 3; write"),
    (f'metric_key="x", steps="all", {BAND}, limits={{"mn": 1}}', "limits", "unknown key 'mn' (did you mean 'min'?)"),
    (f'metric_key="x", steps="all", {BAND}, limits={{"min": None}}', "limits", "found min None"),
    (f'metric_key="x", steps="all", {BAND}, limits={{"min": 2, "max": 1}}', "limits", "min 2 is above max 1"),
    (f'metric_key="x", steps="all", {BAND}, limits={{"max": -1e999}}', "limits", "found max -inf"),
    (f'metric_key="x", steps="all", {BAND}, expect_points=0', "expect_points", "found 0; write an int >= 1"),
    (f'metric_key="x", steps="all", {BAND}, expect_points=True', "expect_points", "found True"),
    (f'metric_key="x", steps="all", {BAND}, expect_points={{"min": 1.5}}', "expect_points", "found {'min': 1.5}"),
    (f'metric_key="x", steps="all", {BAND}, expect_points={{"max": 3}}', "expect_points", "unknown key 'max'"),
    (f'metric_key="x", steps="all", {BAND}, enforce=1, allowlist_reason="a"', "enforce", "found 1; write True or"),
    (f'metric_key="x", steps="all", {BAND}, enforce=True', "allowlist_reason", "missing; enforce=True needs a reason"),
    (f'metric_key="x", steps="all", {BAND}, allowlist_reason=" "', "allowlist_reason", "found ' '; say in a non-empty"),
    (f'metric_key="x", steps="all", {BAND}, checks="shift"', "checks", "found 'shift'; write a list of anchor, shift"),
    (f'metric_key="x", steps="all", {BAND}, checks=["corridor"]', "checks", "unknown check 'corridor'"),
    (f'metric_key="x", steps="all", {BAND}, checks=["shfit"]', "checks", "(did you mean 'shift'?)"),
    (f'metric_key="x", steps="all", {BAND}, checks=["shift", "shift"]', "checks", "'shift' listed twice"),
    # the call
    (f'"x", steps="all", {BAND}, metric_key="x"', "", "takes no argument by position"),
    (f'metric_key="x", stesp="all", {BAND}', "stesp", "unknown argument (did you mean 'steps'?); valid: metric_key"),
    (f'metric_key=f"x", steps="all", {BAND}', "metric_key", '`f"x"` is not a literal; write the value itself'),
    (f'metric_key="x", steps=[0, N], {BAND}', "steps", "`N` is not a literal"),
    ("**options", "", "* and ** hide what is given"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "field", "words"), MISTAKES, ids=[words for _, _, words in MISTAKES])
def test_each_mistake_is_one_problem_that_names_the_field(arguments, field, words):
    """What was found, what is valid, the nearest name; a mistake never shows as two."""
    problem = problem_of(arguments)
    assert problem.field == field
    assert words in problem.text
    assert "\n" not in str(problem)


def test_all_mistakes_of_a_file_come_at_once_in_file_order():
    """Every bad declaration of a file is named in one go, the good ones among them are still read."""
    lines = [f"register_ci_gate({arguments})" for arguments, _, _ in MISTAKES[:30]]
    text = "\n".join([f'register_ci_gate(metric_key="good", steps="all", {BAND})', *lines])
    specs, problems = parse_declarations("test_a.py", text, DEFAULTS)
    assert [problem.line for problem in problems] == list(range(2, 32))
    assert [spec.metric_key for spec in specs] == ["good"]


def test_one_declaration_may_have_several_mistakes():
    """Nobody has to fix one field to learn of the next."""
    _, problems = declare('metric_key="x", steps=[], constraint={"rel_up": -1, "rel_down": "a"}, enforce=3, limits=0')
    assert [problem.field for problem in problems] == ["steps", "constraint", "constraint", "limits", "enforce"]


def test_equal_keys_in_one_file_are_an_error_whatever_the_policy_says():
    """Two declarations of one address would be judged twice against one history."""
    text = f"""
register_ci_gate(metric_key="x", steps="all", {BAND})
register_ci_gate(metric_key="x", steps="all", constraint={{"rel_down": 1, "rel_up": 1}}, limits={{"min": 0}})
register_ci_gate(metric_key="x", steps="all", constraint={{"rel_down": 1.0, "rel_up": 1}})
"""
    specs, (problem,) = parse_declarations("test_a.py", text, DEFAULTS)
    assert (problem.line, problem.text) == (3, "same metric, steps and constraint as in line 2; keep one")
    assert [spec.line for spec in specs] == [2, 4]


def test_a_default_and_the_same_literals_written_out_are_one_address():
    """Filling in from the table changes nothing about identity."""
    text = """
register_ci_gate(metric_key="train/ppo_kl")
register_ci_gate(metric_key="train/ppo_kl", steps="all", constraint={"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8})
"""
    assert len(parse_declarations("test_a.py", text, DEFAULTS)[1]) == 1


def test_a_file_that_cannot_be_parsed_is_one_problem():
    """A syntax error is reported, not raised."""
    specs, (problem,) = parse_declarations("test_a.py", "register_ci_gate(", DEFAULTS)
    assert not specs
    assert str(problem).startswith("test_a.py:1: not valid Python")


def test_a_hostile_file_has_few_mistakes():
    """The last stands for all that follow."""
    specs, problems = parse_declarations("test_a.py", "register_ci_gate(steps=3)\n" * 5000, {})
    assert (specs, len(problems)) == ((), 201)
    assert problems[-1].text == "and more than 200 mistakes"
