# The solver converges, and as fast as it did.

from descent import residuals

import driftgate
from driftgate import register_ci_gate, register_cpu_ci

register_cpu_ci(est_time=2, suite="quick", labels=["solver"])
register_ci_gate(metric_key="solver/residual")  # steps and corridor: [gate.defaults] of driftgate.toml

history = list(residuals(steps=60, rate=0.1))
for step, residual in enumerate(history):
    driftgate.log({"solver/residual": residual}, step=step)
assert history[-1] < 0.05, f"the residual is still {history[-1]:.3f}"
