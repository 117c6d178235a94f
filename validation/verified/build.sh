#!/bin/sh
# Builds the program `checker` from the committed OCaml into the folder that is given; needs OCaml, ocamlfind and zarith.
# With `coq` as second argument, first proves everything anew with Coq and makes that OCaml anew, beside the sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: build.sh FOLDER [coq]}
mkdir -p "$into"
into=$(cd "$into" && pwd)
if [ "${2:-}" = coq ]; then
    mkdir -p "$into/coq"
    cp "$here"/*.v "$into/coq"
    cd "$into/coq"
    modules="Bound Arithmetic Check Losses Triplets Methods Margins Spread Budget"
    for module in $modules; do coqc -Q . Verified "$module.v"; done
    coqc -Q . Verified Extract.v
    coqc -Q . Verified Assumptions.v
    for module in $modules; do echo "Verified.$module"; done | xargs coqchk -silent -o -Q . Verified
    cp verified.ml verified.mli "$here/program"
fi
cp "$here"/program/*.ml "$here"/program/*.mli "$into"
cd "$into"
ocamlfind ocamlopt -O3 -w -a -package zarith -linkpkg integer.ml verified.mli verified.ml json.ml data.ml print.ml main.ml -o checker 2>&1 |
    grep -v "Warning: option -O3" || true
test -x checker
