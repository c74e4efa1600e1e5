#!/usr/bin/env bash
# Counts the instructions of the paths whose cost matters, in the release profile, and fails when one exceeds its gate.
# Counts hardly depend on how busy the machine is; they do on compiler, C library and processor, hence the margin.
# Usage: benches/instructions.sh [--record]; --record writes the counts as the new measured values.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly recorded=benches/instructions.txt
readonly margin_percent=15
readonly hook_gate=500000
readonly runs=3
# Operations whose cost is the difference between this many and twice as many.
readonly saves=100 searches=200

record=false
case "${1-}" in
    "") ;;
    --record) record=true ;;
    *)
        echo "usage: $0 [--record]" >&2
        exit 2
        ;;
esac

work="$(mktemp -d)"
server=
finish() {
    if [[ -n "$server" ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

cargo build --release --locked -p am-server -p am-mcp-program -p am-hook-program -p am-benches --bins
target="${CARGO_TARGET_DIR:-target}"
programs="$(cd "$target/release" && pwd)"
payload="$PWD/benches/hook-payload.json"

# The same addresses every time, where that can be had, so that tables keyed by an address are laid out alike.
plain=()
if command -v setarch >/dev/null && setarch -R true 2>/dev/null; then
    plain=(setarch -R)
fi

# Prints the instructions that a program and its threads execute: count DATA_DIRECTORY INPUT PROGRAM ARGUMENT...
count() {
    local directory="$1" input="$2"
    shift 2
    (
        cd "$directory"
        env -i PATH="$PATH" HOME="$directory" AGENT_MEMORY_DATA_DIR="$directory" \
            "${plain[@]}" valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$@" \
            <"$input" >"$work/output" 2>"$work/errors"
    ) || {
        cat "$work/errors" >&2
        return 1
    }
    sed -n 's/^==[0-9]*== Collected : \([0-9]*\)$/\1/p' "$work/errors"
}

# What one more operation costs: operation NAME COUNT
operation() {
    local name="$1" count="$2" once twice
    once="$(operations "$name" "$count")"
    twice="$(operations "$name" $((2 * count)))"
    echo $(((twice - once) / count))
}

operations() {
    rm -rf "$work/copy"
    cp -r "$work/loaded" "$work/copy"
    count "$work/copy" /dev/null "$programs/store-instructions" "$1" "$work/copy" "$2"
}

hook() {
    local spool="$work/served/spool" counted
    counted="$(count "$work/served" "$payload" "$programs/am-hook" PostToolUse)"
    if [[ -e "$spool" ]]; then
        echo "am-hook did not reach the server, so its count says nothing" >&2
        return 1
    fi
    echo "$counted"
}

initialize() {
    local counted
    counted="$(count "$work/client" "$work/initialize" "$programs/am-mcp")"
    if ! grep -q '"serverInfo"' "$work/output"; then
        echo "am-mcp did not answer, so its count says nothing" >&2
        return 1
    fi
    echo "$counted"
}

# Starts a server that hooks reach by its socket.
serve() {
    mkdir "$work/served" "$work/client"
    env -i HOME="$work/served" "$programs/am-server" --data-dir "$work/served" --port 0 >"$work/log" 2>&1 &
    server=$!
    for _ in {1..200}; do
        if [[ -S "$work/served/am.sock" ]] && grep -q 'REST on' "$work/log"; then
            return
        fi
        sleep 0.05
    done
    cat "$work/log" >&2
    return 1
}

gate_of() {
    local name="$1" measured
    if [[ "$name" == am-hook ]]; then
        echo "$hook_gate"
        return
    fi
    measured="$(awk -v name="$name" '$1 == name { print $2 }' "$recorded")"
    if [[ -z "$measured" ]]; then
        echo "$recorded has no value for $name: run $0 --record" >&2
        return 1
    fi
    echo $((measured * (100 + margin_percent) / 100))
}

exceeded=0
# Runs a count several times, and holds the median to the gate: measure NAME WHAT COMMAND...
measure() {
    local name="$1" what="$2" counts=() sorted median spread gate verdict=holds
    shift 2
    for ((run = 0; run < runs; run++)); do
        local counted
        counted="$("$@")"
        counts+=("$counted")
    done
    mapfile -t sorted < <(printf '%s\n' "${counts[@]}" | sort -n)
    median="${sorted[runs / 2]}"
    spread="$(awk -v low="${sorted[0]}" -v high="${sorted[runs - 1]}" -v median="$median" \
        'BEGIN { printf "%.2f", (high - low) * 100 / median }')"
    if $record; then
        printf '%s %s\n' "$name" "$median" >>"$work/recorded"
        printf '%-16s %12d  spread %5s %%                         %s\n' "$name" "$median" "$spread" "$what"
        return
    fi
    gate="$(gate_of "$name")"
    if ((median >= gate)); then
        verdict=EXCEEDED
        exceeded=1
    fi
    printf '%-16s %12d  spread %5s %%  gate %12d  %-8s %s\n' "$name" "$median" "$spread" "$gate" "$verdict" "$what"
}

serve
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"count","version":"1"}}}' >"$work/initialize"
mkdir "$work/loaded"
"$programs/store-instructions" load "$work/loaded" 2000 1

measure am-hook "start to exit, server up, a payload of 0.7 kB" hook
measure am-mcp "start to the answer of initialize and exit" initialize
measure store-save "one save into 2,000 memories" operation save "$saves"
measure store-search "one search of 2,000 memories, 8 words" operation search "$searches"
measure store-hybrid "the same by words and vector" operation hybrid "$searches"

if $record; then
    {
        echo "# Instructions of the last recorded build, by callgrind; gates lie $margin_percent % above. Written by instructions.sh --record."
        cat "$work/recorded"
    } >"$recorded"
fi
exit "$exceeded"
