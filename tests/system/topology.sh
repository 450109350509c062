#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `shmix run` tells its ranks of the machine: a made-up one, one from a file, this one.
# usage: topology.sh SHMIX PROGRAM
shmix=$1 program=$2 folder=$(dirname "$0") bad=0
# Made-up processors cannot be bound to.
HWLOC_SYNTHETIC="pack:4 numa:1 l3:1 core:4 pu:2" \
  "$shmix" run -n 3 --bind-to none "$program" 4 32 0 ||
  { echo "a made-up machine is not what ranks are given"; bad=1; }
# hwloc reads and writes with libxml2 where that is installed, else by itself: the server's side and
# the ranks' need not have the same.
for server in 0 1; do
  for ranks in 0 1; do
    HWLOC_LIBXML=$server HWLOC_XMLFILE=$folder/two_packages.xml "$shmix" run -n 2 --bind-to none \
      env HWLOC_LIBXML=$ranks "$program" 2 4 5 ||
      { echo "a machine from a file is not what ranks are given (libxml2: $server, $ranks)"; bad=1; }
  done
done
"$shmix" run -n 1 --bind-to core "$program" bound || { echo "one bound rank"; bad=1; }
if "$shmix" run -n 2 --bind-to core true 2>/dev/null; then
  "$shmix" run -n 2 --bind-to core "$program" bound || { echo "two bound ranks"; bad=1; }
else
  echo "SKIP two bound ranks: they want two cores"
fi
exit $bad
