# A tenth of the rate and ten times the steps end at the same residual.

from descent import residuals

import driftgate
from driftgate import register_ci_gate, register_cpu_ci

register_cpu_ci(est_time=5, suite="thorough", labels=["slow"])
register_ci_gate(metric_key="solver/final", steps="last", constraint={"rel_up": 1.0, "rel_down": 1.0})

history = list(residuals(steps=600, rate=0.01))
final = sum(history[-100:]) / 100
driftgate.log({"solver/final": final}, step=len(history))
assert final < 0.05, f"the residual is still {final:.3f}"
