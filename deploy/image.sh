#!/bin/sh
# Builds the container image: the programs bench and node, statically linked, in an image
# that holds nothing else, for a user who is not root.
#
#   sh deploy/image.sh [NAME]          builds conclave:latest, or NAME, with podman or docker,
#                                      or with $ENGINE
#   sh deploy/image.sh --rootfs DIR    makes the files of the image in DIR; needs neither
set -eu
cd "$(dirname "$0")/.."

rootfs() {
	mkdir -p "$1/tmp" "$1/proc"
	chmod 1777 "$1/tmp"
	GOOS=linux sh scripts/build.sh "$1"
}

if [ "${1:-}" = --rootfs ]; then
	rootfs "${2:?want --rootfs DIR}"
	exit
fi
engine=${ENGINE:-$(command -v podman || command -v docker)} || { echo "want podman or docker" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
rootfs "$dir/rootfs"
cat > "$dir/Containerfile" <<'FILE'
FROM scratch
COPY rootfs/ /
USER 65532:65532
ENTRYPOINT ["/bench"]
FILE
"$engine" build -f "$dir/Containerfile" -t "${1:-conclave:latest}" "$dir"
