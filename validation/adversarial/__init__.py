"""An attack on every certificate: inputs on which double precision decides wrongly, and the truth in rationals.

    python -m validation.adversarial --n 20000 --folder results/adversarial [--method M] [--n-jobs 2]
    python -m validation.adversarial --method M --seed S

A seed makes an instance (instances.py: collinear, duplicate, underflowing ... points) and candidates for its metric
(candidates.py). Of each, `check` and `certify` are asked; truth.py, problems.py and local.py know the exact objective,
sharing nothing with the package: floats are rational numbers (exact.py), logarithms, exponentials and roots are balls
of 400 bits (python-flint). Most formulas are those of the referee, cvxml/cases/judge.py, evaluated in balls.
attained.py looks for metrics, psd beyond doubt, of which no bound may be above the objective.

Three attacks are about what stands beside a metric. Problems that are solved by hand (`HAND` of each method, in other
units) give optima that must not be refuted. References of ours that did not converge, or that are up to 1e8 times too
large (references.py), stand beside a candidate in exact mode. Saved files get another entry (files.py): if the file is
still certified, that is judged for the problem that now stands in it.

What is wrong, and must not occur (attack.py, attack_local.py, attack_step.py):
    certified    "certified" of what is no metric, or of a metric that is worse than another by more than is allowed:
                 tol * scale plus the stated rounding, which itself may not exceed what docs/duality.md says
    bound        a lower bound, less its stated rounding, above an objective that is attained
    refuted      "refuted" or "close" of what is a metric where the witness is not better by tol * scale
    objective    a stated objective that is off by more than the stated rounding and 4 ulps
    exact        an interval of exact arithmetic that begins above an objective that is attained, or ends elsewhere than
                 at that of the metric
    refused      a ValueError that says of the data what is not so
    raised       any other exception; a verdict on what is no number
    recompute    validation/recompute.py proves a saved file that another metric contradicts

Scales are computed anew: that of MLSVM from the metric of `solve` at a tenth of the tolerance, which `check` solves
for, those of the others from |objective| of it, or of the candidate, as docs/duality.md has them. Only that of the
gerrymandering step, ||W||^2 of a metric that a report does not show, is taken from the report.

Where the problem is not convex the claim is that a metric is stationary. Of ssvm and nca it means that its own convex
step S gains no more than is allowed. So it is false if S at any other metric is lower by more; S is evaluated exactly
at multiples of the metric, along the exact gradient, and along directions in which the points hardly differ. Where the
rank of nca is limited it means that gradient and DC residual, in coordinates of unit covariance, are that small; both
are computed exactly, the residual from below, as a Rayleigh quotient.

A candidate that is not exactly psd stands for its nearest metric, of which an interval is known: its distances lie
between those of A and those of A + t I. It is called wrong only where it is, whatever lies in the interval.
"""
