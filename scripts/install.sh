#!/usr/bin/env bash
# Installs pingloom on this host as systemd services, upgrades it, or removes it. It takes a checkout, the tarball that
# scripts/package.sh makes, or .deb files in its own folder. The parts are in install/ and share its variables.
# shellcheck disable=SC2034
set -euo pipefail
# root's umask may be stricter, and the services' users have to reach their programs and folders. Secrets get a mode of their own.
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<USAGE
Usage: install.sh -c [OPTION]...                                      on the controller's host
       install.sh -c --join FOLDER [OPTION]...                        on the host of one more controller
       install.sh --controller HOST[:PORT] --join TOKEN [OPTION]...   on all others
Installs the agent, with -c also the controller, with -k also the collector, and with --translator also a translator. Run it
again to upgrade: without -c, -k, --translator and --no-agent it upgrades what is installed.
  --controller HOST[:PORT][,...]  where the agent reports; asked for if missing, this host with -c; several controllers that
                      share a history are separated by commas
  -c                  install the controller too
  -k                  install the collector too (it reads agents' metric pages)
  --translator HOST[:PORT]  install the translator too (it writes reports of telemetry into the memory of the collector at HOST)
  --join TOKEN        have this host's keys authorised by the controller that made TOKEN, which may also be a file with it;
                      -c prints one, \`pingloom keys token create\` makes another (docs/keys.md)
  --join FOLDER       with -c: one more of the controllers that share a history; FOLDER is a copy of the /etc/pingloom of one of
                      them (docs/scale.md)
  --insecure          run without keys: anybody who reaches the controller can register as any host
  --no-agent          do not install the agent
  --pinglist FILE     who probes whom; default with -c: all registered agents (docs/pinglist.md)
  --address ADDR      this host's address for collector, translator and the first pinglist; default: of the default route
  --device NAME       RDMA device of agent, collector and translator: auto (default), soft, or a name such as mlx5_0
  --prefix DIR        where programs go (default /usr/local; .debs have /usr)
  --wait SECONDS      how long a service may take to become ready; an upgrade that takes longer is rolled back (default 60)
  -d                  uninstall, but keep configuration and data
  --purge             with -d, also remove those, the users, and the packages that were installed for pingloom
  -n                  dry run: check, and print every step instead of doing it
  -h, --help
Exit code: 0 done, 1 failed (an upgrade is rolled back), 2 wrong usage.
USAGE
}

controller='' controllers='' with_controller='' with_collector='' with_translator='' stores_at='' with_agent=yes roles_given='' pinglist='' address='' device=auto join='' insecure=''
prefix=/usr/local wait_seconds=60 uninstall='' purge='' dry=''
config_dir=/etc/pingloom state_dir=/var/lib/pingloom unit_dir=/etc/systemd/system
record=$state_dir/installer  # lists what was installed, for upgrades and for -d
roles=() given=()  # the roles to install now, and the options that were given with a value

for part in steps roles checks packages source files config kept keys shared services uninstall; do
  # shellcheck source=/dev/null
  . "$here/install/$part.sh"
done

parse_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      -c) with_controller=yes roles_given=yes ;;
      -k) with_collector=yes roles_given=yes ;;
      --no-agent) with_agent='' roles_given=yes ;;
      -d) uninstall=yes ;;
      --purge) purge=yes ;;
      --insecure) insecure=yes ;;
      -n) dry=yes ;;
      --controller | --translator | --join | --pinglist | --address | --device | --prefix | --wait)
        [ -n "${2:-}" ] || fail "$1 needs a value" 2
        given+=("$1")
        case $1 in
          --controller) controller=$2 ;;
          --translator) stores_at=$2 with_translator=yes roles_given=yes ;;
          --join) join=$2 ;;
          --pinglist) pinglist=$2 ;;
          --address) address=$2 ;;
          --device) device=$2 ;;
          --prefix) prefix=${2%/} ;;
          --wait) wait_seconds=$2 ;;
        esac
        shift ;;
      *) usage >&2; fail "unknown option '$1'" 2 ;;
    esac
    shift
  done
  check_options
}

check_options() {
  [ -z "$purge" ] || [ -n "$uninstall" ] || fail "--purge goes with -d" 2
  [[ $prefix =~ ^/[A-Za-z0-9/._+-]+$ ]] || fail "--prefix takes an absolute path without blanks, not '$prefix'" 2
  [ -n "$uninstall" ] || check_prefix
  [[ $wait_seconds =~ ^[1-9][0-9]{0,3}$ ]] || fail "--wait takes seconds, 1 to 9999, not '$wait_seconds'" 2
  [[ $device =~ ^[A-Za-z0-9_.:/-]{1,64}$ ]] || fail "--device takes auto, soft or a device's name, not '$device'" 2
  [[ -z $address || $address =~ ^[0-9A-Fa-f.:]+$ ]] || fail "--address takes an IP address, not '$address'" 2
  [[ -z $controller || $controller =~ ^[][A-Za-z0-9._:-]+(,[][A-Za-z0-9._:-]+)*$ ]] || fail "--controller takes HOST or HOST:PORT, not '$controller'" 2
  controllers=$controller controller=${controller%%,*}
  [[ -z $stores_at || $stores_at =~ ^[][A-Za-z0-9._:-]+$ ]] || fail "--translator takes the collector's HOST or HOST:PORT, not '$stores_at'" 2
  [ -z "$pinglist" ] || [ -r "$pinglist" ] || fail "cannot read the pinglist $pinglist" 2
  check_key_options
  [ -n "$uninstall$with_agent$with_controller$with_collector$with_translator" ] || fail "--no-agent leaves nothing to install" 2
}

ask_controller() {
  [ -z "$controller" ] || return 0
  if [ -n "$with_controller" ]; then
    controller=127.0.0.1 controllers=127.0.0.1
    ! joins_controllers || name_other_controller
    return
  fi
  if [ -n "$with_translator" ] && [ -z "$stores_at" ] && [ ! -e "$config_dir/translator.yaml" ]; then
    fail "name the collector: --translator HOST[:PORT]" 2
  fi
  if [ -n "$with_agent" ] && [ ! -e "$config_dir/agent.yaml" ] || [ -n "$with_collector" ] && [ ! -e "$config_dir/collector.yaml" ]; then
    [ -t 0 ] || fail "name the controller: --controller HOST[:PORT]" 2
    read -rp "The controller's host, or HOST:PORT: " controller || true
    [ -n "$controller" ] || fail "no controller given" 2
    given+=(--controller)
    check_options
  fi
}

main() {
  parse_options "$@"
  only_one
  if [ -n "$uninstall" ]; then uninstall_all; return; fi
  choose_roles
  ask_controller
  check_how_to_join
  find_source
  step "checking this host"
  check_host
  step "packages"
  install_run_packages
  prepare_source
  check_programs
  step "users and folders"
  install_users
  local role
  for role in cli "${roles[@]}"; do install_role "$role"; done
  if [ -n "$dry" ]; then step "a dry run: nothing was changed"; return; fi
  step "done"
  closing_words
}

closing_words() {
  local role
  for role in "${roles[@]}"; do say "pingloom-$role: $config_dir/$role.yaml, journalctl -u pingloom-$role"; done
  [ -z "$with_controller" ] || say "who probes whom: all hosts whose agents register ($config_dir/pinglist.yaml); look: pingloom status, pingloom mesh, http://127.0.0.1:8080"
  [ -z "$with_controller" ] || tell_other_hosts
  ! joins_controllers || tell_all_agents
  [ -z "$stores_at" ] || say "the collector has to name this translator in its 'stores' (docs/dta.md): pingloom-translator's log says whether it is let in"
}

main "$@"
