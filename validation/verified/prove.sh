#!/bin/sh
# Proves everything anew with Coq in the folder that is given, prints what the theorems rest on, and has it all checked
# once more by coqchk. The OCaml that is extracted, verified.ml and verified.mli, is left in the folder.
# Two files are compiled at a time. The theorems are printed while coqchk runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: prove.sh FOLDER}
mkdir -p "$into"
cp "$here"/*.v "$into"
cd "$into"
coq_makefile -Q . Verified *.v -o Makefile > making
make -j 2 Extract.vo $(ls *.v | grep -v Assumptions | sed 's/$/o/') >> making 2>&1 || { cat making >&2; exit 1; }
coqc -Q . Verified Assumptions.v > assumptions & printing=$!
modules=$(ls *.vo | sed -e '/^Extract/d' -e '/^Assumptions/d' -e 's/^/Verified./' -e 's/\.vo$//')
coqchk -silent -o -Q . Verified $modules > checked 2>&1 || { cat checked >&2; exit 1; }
wait "$printing"
cat assumptions checked
