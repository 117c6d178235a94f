"""Pictures in scikit-learn's manner: compute once, draw at once, draw again with `plot`. Needs matplotlib.

MetricEllipseDisplay   the unit ball of a metric among the points, beside the Euclidean circle of the same area
CertificateDisplay     the certified gap against iteration, or objective and lower bound
NeighborhoodDisplay    targets and impostors of a point, or h* and h^ of gerrymandering
SpectrumDisplay        eigenvalues of one or several metrics, and their rank
LocalMetricDisplay     the local metrics of GLML over the plane, by the case of the matrix B

`from_estimator` fits nothing. Every constructor but `__init__` draws; `ax` says where (default: new axes).
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
