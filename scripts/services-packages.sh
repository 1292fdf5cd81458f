#!/bin/sh
# Installs the distribution's packages of the systems that bench-systems runs, as far as they are missing, if this
# is root on Debian. With CI=true a package that is missing in the end is a failure.
set -eu
packages=
for pair in etcd:etcd-server redis-server:redis-server patroni:patroni java:default-jre-headless \
	/usr/share/zookeeper/bin/zkServer.sh:zookeeper; do
	command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair#*:}"
done
find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null | grep -q . || packages="$packages postgresql"
find /usr/lib -name 'libfaketime.so.1' 2>/dev/null | grep -q . || packages="$packages libfaketime"
command -v fusermount3 >/dev/null || packages="$packages fuse3"
[ -n "$packages" ] || exit 0
if [ "$(id -u)" = 0 ] && [ -x /usr/bin/apt-get ]; then
	# Their services are not to run: what is measured starts them itself.
	[ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; }
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
		{ echo "not installed:$packages"; [ "${CI:-}" != true ]; }
else
	echo "not installed:$packages"
	[ "${CI:-}" != true ]
fi
