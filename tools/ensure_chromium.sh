#!/bin/sh
# Make sure that the browser tests find a Chromium: install Debian's as root, else say how to get one.
set -eu
here=$(dirname "$0")
if sh "$here/find_chromium.sh" >/dev/null; then
    exit 0
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing Chromium for the browser tests ..."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium >/dev/null
    exit 0
fi
cat >&2 <<'MESSAGE'
The browser tests need Chromium or Chrome. Get one in the way of your system:
  Debian       sudo apt-get install chromium
  Fedora       sudo dnf install chromium
  macOS        brew install --cask chromium
or name one that you have: EMBER_CHROMIUM=/path/to/chrome make test-browser
MESSAGE
exit 1
