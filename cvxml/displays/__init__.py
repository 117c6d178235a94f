"""Pictures in the style of scikit-learn's displays: compute once, and draw again with `plot`. Needs matplotlib.

MetricEllipseDisplay   the ball of a metric around each class mean, with the Euclidean circle of the same area
CertificateDisplay     the certified gap against iterations, or objective and lower bound
NeighborhoodDisplay    targets and impostors of a point, or the best and worst neighbours h* and ĥ of gerrymandering
SpectrumDisplay        eigenvalues of one or several metrics, and their rank
LocalMetricDisplay     the local metrics of GLML in the plane, with the kind of optimum at each query

`from_estimator` takes a fitted estimator. The `from_...` methods draw at once; `ax` gives the axes (default: new
ones).
"""

from __future__ import annotations

from cvxml.displays.certificate import CertificateDisplay
from cvxml.displays.ellipse import MetricEllipseDisplay
from cvxml.displays.local import LocalMetricDisplay
from cvxml.displays.neighborhood import NeighborhoodDisplay
from cvxml.displays.spectrum import SpectrumDisplay

__all__ = [
    "CertificateDisplay",
    "LocalMetricDisplay",
    "MetricEllipseDisplay",
    "NeighborhoodDisplay",
    "SpectrumDisplay",
]
