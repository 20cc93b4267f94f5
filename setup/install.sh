#!/bin/sh
# Puts the graft binary of one release on the PATH of later steps. checksums.txt beside this file names the
# release and the SHA-256 of its archives, so that the commit of the action fixes every byte that is run.
# GRAFT_URL is the address of the releases. With GRAFT_ATTESTATION=true, gh must verify who built the archive.
set -eu

releases=https://github.com/olmgraft/graft/releases
most=67108864 # bytes of a download; ulimit counts blocks of 512

# fail CLASS MESSAGE REMEDY annotates the step. None of the three has a character that ends an annotation.
fail() {
	printf '::error title=%s::%s %s\n' "$1" "$2" "$3"
	exit 1
}

sum_of() {
	if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -c 1-64
}

# fetch FILE downloads a file of the release into $work, with limits of size and time. It retries after temporary
# errors: no connection, a broken one, 408, 429 and 5xx.
fetch() {
	for pause in 1 4 10 ''; do
		code=0
		status=$(
			ulimit -f $((most / 512)) 2>/dev/null || :
			exec curl --silent --show-error --location --max-redirs 5 --proto '=http,https' --proto-redir '=http,https' --connect-timeout 10 \
				--max-time 120 --max-filesize "$most" --write-out '%{http_code}' --output "$work/$1" "$url/v$version/$1"
		) || code=$?
		case $code/$status in
		0/200) return ;;
		0/408 | 0/429 | 0/5??) why="HTTP $status" ;;
		0/404) fail download-failed "$url/v$version/$1 does not exist (HTTP 404)." "Set url to a mirror that has release v$version, or leave it out." ;;
		0/*) fail download-failed "$url/v$version/$1 answers HTTP $status." "Set url to a mirror that answers without credentials, or leave it out." ;;
		1/*) fail download-failed "$url/v$version/$1 leads to what is neither http nor https." "Check the mirror that url names." ;;
		23/* | 63/* | 153/*) fail download-failed "$url/v$version/$1 is larger than $most bytes, or the disk is full." "Check the mirror that url names, and the space in RUNNER_TEMP." ;;
		*) why="curl ends with $code" ;;
		esac
		[ -z "$pause" ] || { echo "$url/v$version/$1: $why; trying again in $pause s"; sleep "$pause"; }
	done
	fail download-failed "$url/v$version/$1 cannot be downloaded: $why, four times." "Run the job again, or set url to a mirror that the runner reaches."
}

url=${GRAFT_URL%/}
case $url in
*[!A-Za-z0-9._~:/+-]*) fail usage "The input url is no plain address." "Give an address such as $releases/download, without credentials and query." ;;
http://?* | https://?*) ;;
*) fail usage "The input url is no http or https address." "Give an address such as $releases/download." ;;
esac
case $GRAFT_ATTESTATION in
true | false) ;;
*) fail usage "The input attestation is neither true nor false." "Give true or false." ;;
esac

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail platform-unsupported "This action runs on Linux and macOS." "Download the archive for your system from $releases." ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail platform-unsupported "Releases have amd64 and arm64, and this runner is neither." "Build graft with go install, or use another runner." ;;
esac

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck disable=SC2046 # two words: the checksum and the version
set -- $(sed -n "s/^\([0-9a-f]\{64\}\)  graft_\([0-9][0-9A-Za-z.-]*\)_${os}_$arch\.tar\.gz\$/\1 \2/p" "$here/checksums.txt")
[ $# = 2 ] || fail release-missing "This commit of olmgraft/graft is no release." "Name the action by the commit of a release: $releases."
sum=$1 version=$2 archive=graft_$2_${os}_$arch.tar.gz

for program in curl tar mktemp; do
	command -v $program >/dev/null || fail program-missing "There is no $program." "Install $program on the runner."
done
command -v sha256sum >/dev/null || command -v shasum >/dev/null || fail program-missing "There is neither sha256sum nor shasum." "Install one of them on the runner."
if [ "$GRAFT_ATTESTATION" = true ]; then
	command -v gh >/dev/null || fail attestation-unverified "There is no gh to verify the attestation of $archive." \
		"Install gh, or set attestation to false: the checksum is verified in any case."
fi

folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/graft.XXXXXX") ||
	fail unwritable "The job cannot write to RUNNER_TEMP." "Let it write there, and free space."
work=$folder/work bin=$folder/bin
mkdir "$work" "$bin"
trap 'rm -rf "$work"' EXIT

# The cache saves the download but no check: the cached file is copied first, so that it cannot change after it.
cache=${RUNNER_TOOL_CACHE:+$RUNNER_TOOL_CACHE/graft/$version}
from="the tool cache"
if [ -z "$cache" ] || ! cp "$cache/$archive" "$work/$archive" 2>/dev/null || [ "$(sum_of "$work/$archive")" != "$sum" ]; then
	rm -f "$work/$archive"
	fetch "$archive"
	from=$url
	got=$(sum_of "$work/$archive")
	[ "$got" = "$sum" ] || fail checksum-mismatch "$url/v$version/$archive has the SHA-256 $got, and the release has $sum." \
		"Check the mirror that url names. Do not use this file."
	[ -z "$cache" ] || { mkdir -p "$cache" && cp "$work/$archive" "$cache/$archive.$$" && mv -f "$cache/$archive.$$" "$cache/$archive"; } 2>/dev/null ||
		echo "the tool cache cannot be written; the next job downloads $archive again"
fi

# The release contains the attestation's bundle, so that gh needs no token. The bundle is signed.
proven="checksum verified"
if [ "$GRAFT_ATTESTATION" = true ]; then
	fetch "graft_${version}_attestation.json"
	if GH_HOST=github.com gh attestation verify "$work/$archive" --bundle "$work/graft_${version}_attestation.json" --repo olmgraft/graft \
		--signer-workflow olmgraft/graft/.github/workflows/release.yml --deny-self-hosted-runners >"$work/said" 2>&1; then
		proven="$proven, attestation verified"
	else
		sed 's/^/gh: /; s/##\[/##(/g' "$work/said"
		fail attestation-unverified "gh does not verify the attestation of $archive; the lines above say why." \
			"Let the runner reach tuf-repo.github.com and tuf-repo-cdn.sigstore.dev, or set attestation to false: the checksum is right."
	fi
fi

tar -xzf "$work/$archive" -C "$bin" graft || fail unwritable "$archive cannot be unpacked in RUNNER_TEMP." "Free space there."
case $("$bin/graft" version 2>&1) in
"graft $version"[,\ ]*) ;;
*) fail platform-unsupported "The binary of $archive does not run here." "Use a runner with Linux or macOS on amd64 or arm64." ;;
esac
echo "$bin" >>"$GITHUB_PATH"
printf 'version=%s\npath=%s\n' "$version" "$bin/graft" >>"$GITHUB_OUTPUT"
echo "graft $version for $os/$arch from $from: $proven"
