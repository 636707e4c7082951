"""How well the gate tells a change from noise: simulated and real histories, our judges beside rivals."""
