# cvxml conform --allow-skipped -- Rscript stub.R
# One question on the standard input, one answer on the standard output. Needs jsonlite. Copy and go on.
library(jsonlite)

question <- fromJSON(file("stdin"), simplifyVector = FALSE)
matrix_of <- function(rows) do.call(rbind, lapply(rows, unlist))
indices <- function(listed) lapply(listed, function(row) unlist(row) + 1) # they count from 0
symmetric <- function(M, f) {
  of <- eigen((M + t(M)) / 2, symmetric = TRUE)
  of$vectors %*% diag(f(of$values), nrow(M)) %*% t(of$vectors)
}

# The inverse of the covariance within chunklets, which is optimal up to a multiple.
rca <- function(given) {
  X <- matrix_of(given$X)
  chunklets <- unlist(given$chunklets)
  C <- matrix(0, ncol(X), ncol(X))
  for (c in setdiff(unique(chunklets), -1)) {
    C <- C + crossprod(scale(X[chunklets == c, , drop = FALSE], scale = FALSE))
  }
  list(metric = solve(C / sum(chunklets != -1) + given$alpha * diag(ncol(X))))
}

# The geometric mean of S^-1 and D.
gmml <- function(given) {
  if (given$weight != 0.5) return(list(unsupported = "t is 1/2 here"))
  X <- matrix_of(given$X)
  sums <- lapply(given$pairs[c("similar", "dissimilar")], function(pairs) {
    E <- X[sapply(pairs, `[[`, 1) + 1, , drop = FALSE] - X[sapply(pairs, `[[`, 2) + 1, , drop = FALSE]
    crossprod(E) + given$mu * diag(ncol(X))
  })
  root <- symmetric(sums$similar, sqrt)
  back <- solve(root)
  list(metric = back %*% symmetric(root %*% sums$dissimilar %*% root, sqrt) %*% back)
}

mlsvm_slacks <- function(given) {
  X <- matrix_of(given$X)
  A <- matrix_of(given$metric)
  D <- function(i, listed) sapply(listed, function(j) sum((X[i, ] - X[j, ]) * (A %*% (X[i, ] - X[j, ]))))
  xi <- mapply(function(i, targets, impostors) {
    if (!length(targets) || !length(impostors)) return(0)
    max(0, 1 + max(D(i, targets)) - min(D(i, impostors)))
  }, seq_len(nrow(X)), indices(given$targets), indices(given$impostors))
  list(answer = list(xi = xi, objective = given$lam / 2 * sum(A^2) + mean(xi)))
}

psd_projection <- function(given) {
  list(answer = list(projection = symmetric(matrix_of(given$matrix), function(v) pmax(v, 0))))
}

known <- list(rca = rca, gmml = gmml, mlsvm_slacks = mlsvm_slacks, psd_projection = psd_projection)
answer <- list(unsupported = "not yet")
if (question$formula %in% names(known)) answer <- known[[question$formula]](question$inputs)
cat(toJSON(answer, digits = I(17), auto_unbox = TRUE))
