#!/bin/sh
# Print the path of a Chromium or Chrome for the browser tests; fail if there is none.
set -eu
if [ -n "${EMBER_CHROMIUM:-}" ]; then
    echo "$EMBER_CHROMIUM"
    exit 0
fi
for name in chromium chromium-browser google-chrome-stable google-chrome; do
    if command -v "$name"; then
        exit 0
    fi
done
for path in "/Applications/Chromium.app/Contents/MacOS/Chromium" \
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
    if [ -x "$path" ]; then
        echo "$path"
        exit 0
    fi
done
exit 1
