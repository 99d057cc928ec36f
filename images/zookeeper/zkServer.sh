#!/bin/sh
# Starts the server in the foreground. JVMFLAGS are added to the JVM's command line.
set -e

if [ "$1" != start-foreground ]; then
    echo "usage: zkServer.sh start-foreground" >&2
    exit 64
fi

CLASS_PATH=
for jar in zookeeper zookeeper-jute slf4j-api slf4j-simple netty-all commons-cli commons-io \
    metrics-core snappy-java jackson-annotations jackson-core jackson-databind \
    jetty9-server jetty9-servlet jetty9-util jetty9-http jetty9-io jetty9-security servlet-api; do
    CLASS_PATH="$CLASS_PATH:/usr/share/java/$jar.jar"
done

# shellcheck disable=SC2086 # JVMFLAGS is a list of words.
exec java -Dzookeeper.jmx.log4j.disable=true \
    -Dorg.slf4j.simpleLogger.showDateTime=true \
    -Dorg.slf4j.simpleLogger.dateTimeFormat="yyyy-MM-dd HH:mm:ss,SSS" \
    $JVMFLAGS -cp "${CLASS_PATH#:}" \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$ZOO_CONF_DIR/zoo.cfg"
