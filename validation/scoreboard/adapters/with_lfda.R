# The R package lfda: Rscript with_lfda.R FOLDER, the folder of its source, of which two files are read. A question on stdin,
# an answer on stdout: docs/oracle.md. All d components are asked for, and the first kept: for fewer it needs rARPACK.
library(jsonlite)
folder <- commandArgs(trailingOnly = TRUE)[1]
for (name in c("helpers.R", "lfda.R")) source(file.path(folder, "R", name))
question <- fromJSON(paste(readLines(file("stdin")), collapse = "\n"))
given <- question$inputs
if (question$formula != "lfda") {
  answer <- list(unsupported = unbox("LFDA only"))
} else if (given$alpha != 0) {
  answer <- list(unsupported = unbox("it takes no alpha"))
} else {
  kinds <- c(weighted = "weighted", plain = "plain", orthonormal = "orthonormalized")
  found <- lfda(given$X, given$y, ncol(given$X), kinds[[given$embedding]], given$n_neighbors)
  answer <- list(components = t(found$T[, seq_len(given$n_components), drop = FALSE]))
}
cat(toJSON(answer, digits = NA))
