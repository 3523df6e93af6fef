# shellcheck shell=bash disable=SC2154,SC2034
# Finds what is to be installed: .debs in install.sh's folder, the tree of a tarball, or a checkout, which is built first. A tree
# has a folder for each component (cli, agent, controller, collector, translator), laid out as below a prefix.

find_source() {
  checkout='' tree=''
  if compgen -G "$here/pingloom-agent_*.deb" >/dev/null; then
    mode=deb prefix=/usr
  elif [ -d "$here/tree/agent" ]; then
    mode=tree tree=$here/tree
  elif [ -f "$here/../CMakeLists.txt" ]; then
    mode=tree checkout=$(cd "$here/.." && pwd)
  else
    fail "nothing to install: $here has no .debs and no tree/, and is not part of a checkout"
  fi
}

prepare_source() {
  [ -n "$checkout" ] || return 0
  step "building $checkout"
  if [ -n "$dry" ]; then
    say "would build it, with the packages of [build] and [web] in scripts/packages.txt"
    tree=$checkout/build/release
    return
  fi
  # The pages need Node, which a collector on a DPU does not get for its page alone.
  local sections=(build) names=() section name targets=(pingloom pingloom-agent pingloom-controller pingloom-collector pingloom-translator)
  [ -z "$with_controller" ] || { sections+=(web) targets+=(web); }
  for section in "${sections[@]}"; do
    for name in $(listed_packages "$section"); do
      [[ $section != web ]] || ! command -v npm >/dev/null || continue
      installed "$name" || names+=("$name")
    done
  done
  [ ${#names[@]} -eq 0 ] || install_packages "${names[@]}"
  local options=()
  [ -e "$checkout/build/release/CMakeCache.txt" ] || options=(-DPINGLOOM_TESTS=OFF -DPINGLOOM_BENCH=OFF)
  cmake -S "$checkout" --preset release "${options[@]}" >/dev/null || fail "cmake could not configure the build"
  cmake --build "$checkout/build/release" --target "${targets[@]}" || fail "the build failed"
  make_tree "$checkout/build/release" "$work/tree"
  tree=$work/tree
}

make_tree() { # BUILD FOLDER
  local component
  for component in cli agent controller collector translator; do
    mkdir -p "$2/$component"
    cmake --install "$1" --strip --prefix "$2/$component" --component "$component" >/dev/null
  done
}

# Checks, before anything is changed, that the programs run here and accept the existing configuration.
check_programs() {
  [ "$mode" = tree ] && [ -z "$dry" ] || return 0
  local role
  if [ -n "$pinglist" ]; then
    "$tree/cli/bin/pingloom" check "$pinglist" || fail "the pinglist $pinglist is not valid; nothing of pingloom was changed"
  fi
  for role in "${roles[@]}"; do
    "$tree/$role/bin/pingloom-$role" --version >/dev/null ||
      fail "pingloom-$role does not run on this host (see above); nothing of pingloom was changed"
    [ -e "$config_dir/$role.yaml" ] || continue
    "$tree/cli/bin/pingloom" check "$config_dir/$role.yaml" ||
      fail "$config_dir/$role.yaml is not valid for this version; correct it and start again. Nothing of pingloom was changed"
  done
}
