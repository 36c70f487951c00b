#!/bin/sh
# A wrong lock of a shell: its node is persistent, so it outlives a copy that is killed. $1 runs zkwire.
echo ready
while read -r order; do
  case $order in
  lock)
    until $1 create -p "$ZK_LOCK" > /dev/null 2>&1; do sleep 0.1; done
    echo in
    ;;
  unlock)
    $1 rm "$ZK_LOCK" && echo out
    ;;
  esac
done
