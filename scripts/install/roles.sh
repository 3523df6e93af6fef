# shellcheck shell=bash disable=SC2154,SC2034
# Chooses among agent, controller, collector and translator: the options decide; without any, what is installed; on a fresh host, the agent.

# Roles are upgraded in this order, because a controller understands older agents.
all_roles=(controller agent collector translator)

choose_roles() {
  local role
  roles=()
  [ -n "$roles_given" ] || take_installed_roles
  for role in "${all_roles[@]}"; do
    if role_chosen "$role"; then
      roles+=("$role")
    elif role_installed "$role"; then
      say "pingloom-$role is installed too and stays at its version; without -c, -k, --translator and --no-agent every installed role is upgraded"
    fi
  done
  [ -z "$pinglist" ] || [ -n "$with_controller" ] || fail "--pinglist belongs to the controller's host and needs -c" 2
}

role_chosen() { # ROLE
  case $1 in
    controller) [ -n "$with_controller" ] ;;
    agent) [ -n "$with_agent" ] ;;
    collector) [ -n "$with_collector" ] ;;
    translator) [ -n "$with_translator" ] ;;
  esac
}

# A role may have been installed by this script or as a package.
role_installed() { # ROLE
  [ ! -e "$record/manifest.$1" ] || return 0
  command -v dpkg-query >/dev/null && dpkg-query -W -f '${db:Status-Status}' "pingloom-$1" 2>/dev/null | grep -qx installed
}

take_installed_roles() {
  local found=() role
  for role in "${all_roles[@]}"; do ! role_installed "$role" || found+=("$role"); done
  [ ${#found[@]} -gt 0 ] || return 0
  say "as installed on this host: ${found[*]}"
  with_controller='' with_agent='' with_collector='' with_translator=''
  for role in "${found[@]}"; do
    case $role in
      controller) with_controller=yes ;;
      agent) with_agent=yes ;;
      collector) with_collector=yes ;;
      translator) with_translator=yes ;;
    esac
  done
}
