"""Rows v_t = sum_p B_tp D_p of squared distances D_p of pairs p: pairs, triplets, and all pairs of a point."""
