# shellcheck shell=bash disable=SC2154
# An existing configuration stays as it is. An option that contradicts it has no effect, and these functions warn about that.

was_given() { [[ " ${given[*]} " == *" $1 "* ]]; } # OPTION

tell_kept() { # NAME
  local file=$config_dir/$1
  case $1 in
    agent.yaml)
      tell_differs --controller "$(bare_controller "$controller")" "$(bare_controller "$(value_of "$file" controller)")" "'controller'" "$file" reload
      tell_differs --device "$device" "$(value_of "$file" rdma device)" "'rdma: { device: $device }'" "$file" restart ;;
    collector.yaml)
      tell_differs --controller "$(host_of "$controller")" "$(host_of "$(value_of "$file" controller | sed 's|^https*://||')")" "'controller'" "$file" restart
      tell_differs --device "$device" "$(value_of "$file" device)" "'device'" "$file" restart
      tell_differs --address "$address" "$(value_of "$file" address | tr -d "[]\"'")" "'address'" "$file" restart ;;
    translator.yaml)
      tell_differs --translator "$(bare_collector "$stores_at")" "$(bare_collector "$(value_of "$file" collector)")" "'collector'" "$file" restart
      tell_differs --device "$device" "$(value_of "$file" device)" "'device'" "$file" restart
      tell_differs --address "$address" "$(value_of "$file" address)" "'address'" "$file" restart ;;
    pinglist.yaml) tell_pinglist "$file" ;;
  esac
}

tell_differs() { # OPTION WANTED FOUND KEY FILE reload|restart
  local found=${3:-auto} unit
  [ "$1" = --device ] || found=${3:-nothing}
  was_given "$1" || return 0
  [[ " ${found//[$'\n',]/ } " != *" $2 "* ]] || return 0  # the value may be one of several
  unit=$(basename "$5" .yaml)
  warn "$1 has no effect: $5 stays as it is and says ${found//$'\n'/ }, not $2; edit $4 there, then systemctl $6 pingloom-$unit"
}

tell_pinglist() { # FILE
  if [ -n "$pinglist" ]; then
    cmp -s "$pinglist" "$1" || warn "--pinglist has no effect: $1 stays as it is; cp $pinglist $1 puts it in force within a second"
  elif was_given --address && ! grep -qF -e "$address" "$1"; then
    warn "--address is for a first pinglist: $1 stays as it is and does not name $address; edit it where this host is to be probed"
  fi
}

# 10.0.0.9:20711 is the same as 10.0.0.9, and [fd00::1]:20711 as [fd00::1].
bare_controller() { printf '%s' "${1%:20711}"; }
bare_collector() { printf '%s' "${1%:20717}"; }

# value_of FILE KEY [KEY BELOW IT] prints a value as text without quotes, or nothing.
value_of() {
  local text
  text=$(awk -v key="$2:" '/^[^[:space:]#]/ { inside = index($0, key) == 1 } inside { sub(/(^|[[:space:]])#.*/, ""); print }' "$1")
  text=${text#"$2:"}
  [ -z "${3:-}" ] || text=$(sed -nE "s/^(.*[{,[:space:]])?$3:[[:space:]]*([^,}]*).*/\\2/p" <<<"$text" | head -n 1)
  sed -E "s/^[[:space:]]*(- )?//; s/[[:space:]]*\$//; s/^[\"'](.*)[\"']\$/\\1/" <<<"$text" | sed '/^$/d'
}
