#!/bin/sh
# Builds the program `checker` from the committed OCaml into the folder that is given; needs OCaml, ocamlfind and zarith.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: build.sh FOLDER}
mkdir -p "$into"
cp "$here"/program/*.ml "$here"/program/*.mli "$into"
cd "$into"
# the extracted file is not written by hand, so that its warnings say nothing
ocamlfind ocamlopt -w -a -package zarith,unix -linkpkg \
    integer.ml verified.mli verified.ml json.ml data.ml print.ml elimination.ml main.ml -o checker
