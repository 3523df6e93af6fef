# shellcheck shell=bash disable=SC2154,SC2034
# Which of agent, controller and collector: what the options say; without any of them what is installed; on a fresh host the agent.

# The order in which they are upgraded: a controller understands older agents.
all_roles=(controller agent collector)

choose_roles() {
  local role
  roles=()
  [ -n "$roles_given" ] || take_installed_roles
  for role in "${all_roles[@]}"; do
    if role_chosen "$role"; then
      roles+=("$role")
    elif role_installed "$role"; then
      say "pingloom-$role is installed too and stays at its version; without -c, -k and --no-agent all that is installed is upgraded"
    fi
  done
  [ -z "$pinglist" ] || [ -n "$with_controller" ] || fail "--pinglist is for the controller's host: with -c" 2
}

role_chosen() { # ROLE
  case $1 in
    controller) [ -n "$with_controller" ] ;;
    agent) [ -n "$with_agent" ] ;;
    collector) [ -n "$with_collector" ] ;;
  esac
}

# By this script or as a package.
role_installed() { # ROLE
  [ ! -e "$record/manifest.$1" ] || return 0
  command -v dpkg-query >/dev/null && dpkg-query -W -f '${db:Status-Status}' "pingloom-$1" 2>/dev/null | grep -qx installed
}

take_installed_roles() {
  local found=() role
  for role in "${all_roles[@]}"; do ! role_installed "$role" || found+=("$role"); done
  [ ${#found[@]} -gt 0 ] || return 0
  say "as installed on this host: ${found[*]}"
  with_controller='' with_agent='' with_collector=''
  for role in "${found[@]}"; do
    case $role in
      controller) with_controller=yes ;;
      agent) with_agent=yes ;;
      collector) with_collector=yes ;;
    esac
  done
}
