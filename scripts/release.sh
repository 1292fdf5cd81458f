#!/usr/bin/env bash
# Makes what a release consists of: for each system an archive with bench and node and a bill
# of materials; the notes; and the checksums.
#
#   scripts/release.sh VERSION OUT [SYSTEM/PROCESSOR...]
#
# The tag VERSION is built, whatever the working copy holds. Without such a tag the last
# commit is, as a rehearsal: scripts/release.sh v0.0.0-rehearsal OUT. The same commit and the
# same Go make the same bytes, in any folder and on any day: scripts/release has the test.
set -euo pipefail
if [ $# -lt 2 ]; then
	echo "usage: scripts/release.sh VERSION OUT [SYSTEM/PROCESSOR...]" >&2
	exit 2
fi
version=$1 out=$2
shift 2
[ $# != 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
mkdir -p "$out"
out=$(cd "$out" && pwd)
[ -z "$(ls -A "$out")" ] || { echo "release: $out is not empty" >&2; exit 1; }
cd "$(dirname "$0")/.."
commit=$(git rev-parse --verify --quiet "refs/tags/$version^{commit}") || {
	commit=$(git rev-parse HEAD)
	echo "release: no tag $version: a rehearsal, of $commit" >&2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Go takes version and commit from a clone, and says so if a file in it was changed.
git clone --quiet --shared --no-tags --no-checkout . "$work/source"
cd "$work/source"
git -c advice.detachedHead=false checkout --quiet "$commit"
git -c tag.gpgSign=false tag --force "$version" >/dev/null
# What would make other programs of the same source.
export GOWORK=off GOFLAGS="-mod=readonly -buildvcs=true" GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off GOEXPERIMENT=
for platform; do
	GOOS=${platform%/*} GOARCH=${platform#*/} sh scripts/build.sh "$work/built/$platform"
done
go run ./scripts/release "$version" "$work/built" "$out"
