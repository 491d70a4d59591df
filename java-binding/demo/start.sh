#!/usr/bin/env bash
# Becomes the built demo: PORT (default 8080), REDIS_URL (default: counters in memory). `make demo` builds it first.
set -euo pipefail

demo=$(cd "$(dirname "$0")" && pwd)
web=$demo/target/demo/WEB-INF
if [ ! -d "$web/classes" ]; then
    echo "The demo isn't built: run make demo." >&2
    exit 1
fi

# Empty is as good as not given.
[ -n "${PORT-}" ] || unset PORT
[ -n "${REDIS_URL-}" ] || unset REDIS_URL
if [[ ! ${PORT-8080} =~ ^[0-9]{1,5}$ ]] || ((10#${PORT-8080} > 65535)); then
    echo "PORT=$PORT is no port: give a whole number up to 65535 (0: any that is free)." >&2
    exit 1
fi

exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" --enable-native-access=ALL-UNNAMED \
    "-Ddemo.easyui=$demo/node_modules/jquery-easyui" -cp "$web/classes:$web/lib/*" io.tollgate.demo.DemoApplication
