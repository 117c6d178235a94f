"""What the golden cases ask for: for each formula the names, shapes and meanings of what an answer holds."""

ASKS: dict[str, dict[str, str]] = {
    "mlsvm": {
        "metric": "A (d, d), the optimum of lam/2 ||A||^2 + 1/n sum xi; or components L with A = L^T L"
    },
    "kernel_mlsvm": {
        "metric": "phi (n, n), d(i, j) = (K_i - K_j)^T phi (K_i - K_j) with K_i the i-th column of the kernel matrix"
    },
    "ssvm": {"metric": "W (d, d), a stationary point of ||W||^2 + C sum_i L_i; or components"},
    "glml": {"metric": "A (d, d) of determinant 1, the optimum of (tr A^-1 B)^2 at the query; or components"},
    "mlkr": {
        "metric": (
            "Q = A^T A (d, d), a stationary point of sum_i (yhat_i - y_i)^2, yhat_i the mean of all other targets y_j "
            "weighted by exp(-(x_i - x_j)^T Q (x_i - x_j)), A with n_components rows; or components A"
        )
    },
    "nca": {"metric": "Q = A^T A (d, d), a stationary point of -f or -g, as criterion says; or components A"},
    "lmnn": {
        "metric": (
            "M (d, d), the optimum of (1 - mu) sum_ij D(i, j) + mu sum_ijl xi_ijl over the targets j of i and all l "
            "of another class than i, xi_ijl = max(0, 1 + D(i, j) - D(i, l)), D(i, j) = (x_i - x_j)^T M (x_i - x_j), "
            "`targets` one list a point; or the j and l with i, j, l in `triplets`; or components L with M = L^T L"
        )
    },
    "lmnn:squared_hinge": {
        "metric": (
            "M (d, d), the optimum of (1 - mu) sum_ij D(i, j) + mu sum_ijl xi_ijl^2 over the targets j of i and all l "
            "of another class than i, xi_ijl = max(0, 1 + D(i, j) - D(i, l)), D(i, j) = (x_i - x_j)^T M (x_i - x_j), "
            "`targets` one list a point; or the j and l with i, j, l in `triplets`; or components L with M = L^T L"
        )
    },
    "frobmetric": {
        "metric": (
            "X (d, d), the optimum of 1/2 ||X||^2 + C/m sum_t max(0, 1 + D(i, j) - D(i, l)) over the m rows i, j, l of "
            "`triplets`, D(i, j) = (x_i - x_j)^T X (x_i - x_j); or components L with X = L^T L"
        )
    },
    "rtml": {
        "metric": (
            "M (d, d), the optimum of sum_t l(D(i, l) - D(i, j)) + lam/2 ||M||^2 over the rows i, j, l of `triplets`, "
            "D(i, j) = (x_i - x_j)^T M (x_i - x_j), l(v) = 0 for v >= 1, (1 - v)^2 / (2 width) for v >= 1 - width, "
            "else 1 - v - width/2; or components L with M = L^T L"
        )
    },
    "schultz_joachims": {
        "metric": (
            "M (d, d), the optimum of 1/2 ||M||^2 + C sum_t max(0, 1 + D(i, j) - D(i, l)) over the rows i, j, l of "
            "`triplets` and M = A diag(w) A^T with w >= 0, A = `A` (d, r), or M diagonal where there is none, "
            "D(i, j) = (x_i - x_j)^T M (x_i - x_j); or components L with M = L^T L"
        )
    },
    "scml": {
        "metric": (
            "M (d, d), the optimum of beta sum_k w_k + mean_t max(0, 1 + D(i, j) - D(i, l)) over the rows i, j, l of "
            "`triplets` and M = sum_k w_k b_k b_k^T with w >= 0, b_k the rows of `basis`, w the weights of M of the "
            "least sum, D(i, j) = (x_i - x_j)^T M (x_i - x_j); or components L with M = L^T L"
        )
    },
    "boostmetric": {
        "metric": (
            "X (d, d), the optimum of log sum_t exp(D(i, j) - D(i, l)) + v tr X over the rows i, j, l of `triplets`, "
            "D(i, j) = (x_i - x_j)^T X (x_i - x_j); or components L with X = L^T L"
        )
    },
    "plml": {
        "metric": (
            "M (m d, m d), the basis metrics M_b (d, d) on its diagonal and 0 beside them, the optimum of "
            "alpha1 sum_b ||M_b||^2 + sum_t max(0, 1 + D(i, j) - D(i, l)) + alpha2 sum D(i, j), over the rows i, j, l "
            "of `triplets` and over their pairs i, j, each once; D(i, j) = (x_i - x_j)^T (sum_b W_ib M_b) (x_i - x_j), "
            "W = `weights`, a row a point; or components L with M = L^T L"
        )
    },
    "mlr": {
        "metric": (
            "W (d, d), the optimum of tr W + C mean_q xi_q over the points q with P > 0 `relevant` and N > 0 other "
            "points; xi_q = max over rankings y of all points but q of Delta(q, y) - 2/(P N) sum (D(q, j) - D(q, i)) "
            "over i relevant and j not, j before i in y, D(i, j) = (x_i - x_j)^T W (x_i - x_j); Delta is 1 - the share "
            "of all pairs i, j with i before j (auc), - the mean over i of the precision at its rank (map), - sum c(r) "
            "over the ranks r of relevant points up to k over c(1) + .. + c(k), k at most P, c(1) = 1, c(r) = 1/log2 r "
            "(ndcg), as `measure` says; or components L with W = L^T L"
        )
    },
    "lsml": {
        "metric": (
            "M (d, d), the optimum of tr(M P^-1) - log det(M P^-1) - d + sum_k w_k max(0, D(a, b) - D(c, d))^2 over "
            "the rows a, b, c, d of `quadruplets`, P = `prior`, w = `weights`, D(i, j) = sqrt((x_i - x_j)^T M "
            "(x_i - x_j)), a distance that is not squared; or components L with M = L^T L"
        )
    },
    "rca": {
        "metric": (
            "B (d, d) or any multiple of it, the optimum of mean_i (x_i - m)^T B (x_i - m) + alpha tr B over the "
            "points in `chunklets` (-1: in none), m the mean of the chunklet of x_i, where det B >= 1; or components L "
            "with B = L^T L"
        )
    },
    "ldml": {
        "metric": (
            "M (d, d), the optimum of the sum of log(1 + exp(D(i, j) - b)) over similar and log(1 + exp(b - D(i, j))) "
            "over dissimilar pairs, over b too where it is free, D(i, j) = (x_i - x_j)^T M (x_i - x_j); or components "
            "L with M = L^T L"
        )
    },
    "gmml": {
        "metric": (
            "A (d, d), the optimum of tr A S + tr A^-1 D, S and D the sums of (x_i - x_j)(x_i - x_j)^T over similar "
            "and over dissimilar pairs, each plus mu I (t is 1/2); or components L with A = L^T L"
        )
    },
    "lfda": {
        "metric": (
            "M (d, d) = T T^T, T (d, r) the maximum of tr (T^T S_w T)^-1 T^T S_b T with T^T S_w T = I (plain), each "
            "column times the root of its eigenvalue (weighted), or T^T T = I (orthonormal), as `embedding` says; S_w "
            "and S_b are sums over i < j of (x_i - x_j)(x_i - x_j)^T times A_ij/n_c and A_ij (1/n - 1/n_c) in a class "
            "of n_c points, 0 and 1/n else, alpha I added to S_w; A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i the "
            "distance of x_i to the K-th nearest of its class, K = `n_neighbors`; the objective is minus the trace; or "
            "components T^T"
        )
    },
    "sdml": {
        "metric": (
            "M (d, d), the optimum of tr S M - log det M + lam sum |M_kl| over all k != l, S = P^-1 + eta (sum over "
            "similar pairs - sum over dissimilar pairs) of (x_i - x_j)(x_i - x_j)^T, P = `prior`; or components L with "
            "M = L^T L"
        )
    },
    "itml": {
        "metric": (
            "A (d, d), the optimum of tr(A P^-1) - log det(A P^-1) - d + gamma sum_pairs (r - log r - 1), P = `prior`, "
            "(u, l) = `bounds`, D = (x_i - x_j)^T A (x_i - x_j), r = max(D/u, 1) for a similar pair and min(D/l, 1) "
            "for a dissimilar one; or components L with A = L^T L"
        )
    },
    "mmc": {
        "metric": (
            "A (d, d), the maximum of sum sqrt(D(i, j)) over dissimilar pairs, where sum D(i, j) over similar pairs is "
            "at most 1, D(i, j) = (x_i - x_j)^T A (x_i - x_j); the objective is minus the sum; or components"
        )
    },
    "mmc:diagonal": {
        "metric": (
            "A (d, d) diagonal, the maximum of sum sqrt(D(i, j)) over dissimilar pairs, where sum D(i, j) over similar "
            "pairs is at most 1, D(i, j) = (x_i - x_j)^T A (x_i - x_j); the objective is minus the sum; or components"
        )
    },
    "dml_eig": {
        "metric": (
            "A (d, d), the maximum of min D(i, j) over dissimilar pairs, where sum D(i, j) over similar pairs is at "
            "most 1, D(i, j) = (x_i - x_j)^T A (x_i - x_j); the objective is minus the least D; or components"
        )
    },
    "mcml": {
        "metric": (
            "A (d, d), the optimum of sum_i [ mean_j D(i, j) + log sum_{k != i} exp(-D(i, k)) ] over the other points "
            "j of the class of i, D(i, j) = (x_i - x_j)^T A (x_i - x_j); a point alone in its class is no i, but a k; "
            "or components L with A = L^T L"
        )
    },
    "psd_projection": {
        "projection": "P (d, d), the nearest psd matrix to `matrix` in Frobenius norm",
    },
    "neighbors": {
        "neighbors": (
            "for each point of X the n_neighbors nearest others (indices from 0, any order); squared "
            "distances summed feature by feature; of equal ones the lower index"
        ),
    },
    "mlsvm_slacks": {
        "xi": (
            "(n,): max(0, 1 + max_l d_A(i, l) - min_j d_A(i, j)) over targets l and impostors j of i, at "
            "A = metric; 0 where there are no targets or no impostors"
        ),
        "objective": "lam/2 ||A||^2 + 1/n sum xi",
    },
    "mlsvm_subgradient": {
        "subgradient": (
            "(d, d): lam A - 1/n sum over i with xi_i > 0 of (X_ij - X_il), X_ij = (x_i - x_j)(x_i - "
            "x_j)^T, j the nearest impostor and l the furthest target by A = metric"
        ),
    },
    "mlsvm_algorithm1_step": {
        "A_third": "(d, d): A - eta (subgradient at A = metric), eta = 1/(lam (t + 1))",
        "A_two_thirds": "its projection on the psd cone",
        "A_next": "that, scaled into the ball ||A|| <= 1/sqrt(lam) if it is outside",
    },
    "ssvm_inference": {
        "own": (
            "(n,): the least sum_{j in h} D_W(i, j) over sets h of n_neighbors other points in which the "
            "class of i has strictly the most votes, W = metric"
        ),
        "worst": (
            "(n,): the largest Delta(y_i, h) - sum_{j in h} D_W(i, j) over all such sets h; Delta(y, h) ="
            " the largest loss_matrix[y, r] over the classes r tied for most votes in h"
        ),
    },
    "nca_gradient": {
        "f": "sum_i p_i at A = components (m, d)",
        "g": "sum_i log p_i",
        "gradient_f": "(m, d): df/dA",
        "gradient_g": "(m, d): dg/dA",
    },
    "glml_B": {
        "B": (
            "(d, d), of norm 1: sum_{i<j} p_i p_j (p_j - p_i)(G_i - G_j) over its norm, at the query; "
            "Gaussians with covariances by 1/n plus alpha on the diagonal, densities times priors"
        ),
    },
}
