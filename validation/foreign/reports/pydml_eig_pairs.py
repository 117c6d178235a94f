# needs: pyDML==0.1.0
"""DML_eig loses the first pair of each point."""

import numpy as np
from dml import DML_eig

y = np.array([0, 0, 1, 1])
pairs = DML_eig._label_to_similarity_set(y)
kept = DML_eig._similarity_set_to_iterable(*pairs)
for name, all_pairs, lists in zip(("equal", "different"), pairs, kept, strict=True):
    count = sum(len(js) for js in lists.values())
    print(f"pairs with {name} labels: {len(all_pairs)}; kept: {count}")
    assert count < len(all_pairs), "mended"

# with one pair of classes of one point each no pair is left
alone = DML_eig._similarity_set_to_iterable(*DML_eig._label_to_similarity_set(np.array([0, 1])))
assert alone[1] == {0: [], 1: []}, "mended"
