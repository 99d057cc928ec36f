#!/bin/sh
# Runs the server as the user zookeeper, as the official image does.
set -e

if [ "$1" = zkServer.sh ] && [ "$(id -u)" = 0 ]; then
    chown -R zookeeper:zookeeper "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR"
    exec setpriv --reuid=zookeeper --regid=zookeeper --init-groups "$0" "$@"
fi

if [ ! -f "$ZOO_CONF_DIR/zoo.cfg" ]; then
    printf 'clientPort=2181\ndataDir=%s\ndataLogDir=%s\ntickTime=2000\n' \
        "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR" > "$ZOO_CONF_DIR/zoo.cfg"
fi
if [ ! -f "$ZOO_DATA_DIR/myid" ]; then
    echo "${ZOO_MY_ID:-1}" > "$ZOO_DATA_DIR/myid"
fi

exec "$@"
