#!/usr/bin/env bash
# addresses.sh I: takes host I's interface up and gives it what an interface loses when it goes down, as a host's network
# configuration does: its IPv6 address and its routes.
set -euo pipefail

i=$1
ip link set "h$i" up
ip -6 addr replace "fd00::$i/64" dev "h$i" noprefixroute nodad
ip -4 route replace 10.0.0.0/24 dev "h$i" src "10.0.0.$i" table "10$i"
ip -6 route replace fd00::/64 dev "h$i" src "fd00::$i" table "10$i"
