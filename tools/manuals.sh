# shellcheck shell=bash disable=SC2034 # write_manuals and ./install read the names indirectly
# Manual pages and completions, which the command itself writes, where man, bash, fish and zsh look
# for those of commands in the same folder; and the pages of the book that the help names. To be
# sourced after setup.sh.

MAN=share/man/man1
BASH_COMPLETION=share/bash-completion/completions/hairspring
FISH_COMPLETION=share/fish/vendor_completions.d/hairspring.fish
ZSH_COMPLETION=share/zsh/site-functions/_hairspring
PAGES=share/doc/hairspring
SOLVER=share/hairspring/solver.json
HELP_PAGES=(docs/pass-or-fail.md docs/results-of-tools.md docs/commands/run.md)

write_manuals() { # FOLDER COMMAND...
  local folder="$1" shell file
  shift
  mkdir -p "$folder/$MAN" && "$@" man --out "$folder/$MAN" || return
  for shell in BASH FISH ZSH; do
    file="${shell}_COMPLETION"
    file="$folder/${!file}"
    mkdir -p "$(dirname "$file")" && "$@" completions "${shell,,}" >"$file" || return
  done
  mkdir -p "$folder/$PAGES" &&
    install -m 644 "${HELP_PAGES[@]/#/$ROOT/}" "$folder/$PAGES"
}

# The solver that `report --interactive` puts into pages, where tools/wasm.sh built it.
write_solver() { # FOLDER
  [ ! -f "$ROOT/target/lab/solver.json" ] ||
    install -m 644 -D "$ROOT/target/lab/solver.json" "$1/$SOLVER"
}
