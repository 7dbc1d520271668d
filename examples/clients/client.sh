#!/usr/bin/env bash
# Tunes the price of a shop over HTTP: client.sh [ROUNDS]. Needs bash, awk, sed and curl 7.76.
# The service is at DIKIN_URL; where it has tokens, DIKIN_TOKEN is one that may play.
set -euo pipefail
shop=${DIKIN_URL:-http://localhost:8000}/v1/studies/shop
tuner='{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true}'
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
revenue() { awk -v price="$1" 'BEGIN { print 500 - 4 * (price - 8) ^ 2 }'; } # your system
covariates() { date +'{"covariates": {"minute": %-M}}'; } # what else explains the revenue
# send METHOD PATH BODY [KEY]: what may not have arrived is sent again, for a minute. The key keeps
# an ask from being played twice, and the same tell counts once anyway. The token comes by standard
# input, where a list of processes does not show it.
send() {
  local status=0
  answer=$(curl --silent --fail-with-body --max-time 9 --retry 6 --retry-connrefused \
    -X "$1" "$shop$2" -d "$3" -H 'Content-Type: application/json' -H "Idempotency-Key: ${4:-}" \
    --config - <<< "${DIKIN_TOKEN:+oauth2-bearer = $DIKIN_TOKEN}") || status=$?
  [[ $status =~ ^(18|52|55|56)$ ]] || return $status
  sleep 1 && send "$@" # it was cut off, and --retry does not count that as transient
}
number() { sed "s/.*\"$1\": \([-+.0-9e]*\).*/\1/" <<< "$answer"; }
fail() { sed 's/.*"detail": "\(.*\)", "code.*/\1/' <<< "${answer:-no answer}" >&2 && exit 1; }

if ! send GET '' '' && [[ $answer == *'"unknown_study"'* ]]; then send PUT '' "$tuner" || fail; fi
for ((round = 1; round <= ${1:-100}; round++)); do
  send POST /ask "$(covariates)" "$key-$round" || fail
  price=$(number price)
  send POST /tell "{\"id\": $(number id), \"value\": $(revenue "$price")}" || fail
  echo "round $round: price $price"
done
