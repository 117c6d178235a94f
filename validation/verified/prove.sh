#!/bin/sh
# Proves everything anew with Coq in the folder that is given, prints what the theorems rest on, and has it all checked
# once more by coqchk. The OCaml that is extracted, verified.ml and verified.mli, is left in the folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: prove.sh FOLDER}
mkdir -p "$into"
cp "$here"/*.v "$into"
cd "$into"
modules="Bound Arithmetic Check Losses Triplets Methods Margins Spread Budget Combinations Inference Greedy Gerrymandering Cases Glml Exponentials Softmaxes Logistic Nca Mmc Boostmetric Gmml Logdet Itml Sdml Lsml"
for module in $modules Extract Assumptions; do coqc -Q . Verified "$module.v"; done
for module in $modules; do echo "Verified.$module"; done | xargs coqchk -silent -o -Q . Verified 2>&1
