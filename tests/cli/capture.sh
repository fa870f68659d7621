#!/usr/bin/env bash
# Queries and keys of every fixture model, through the program, against transformers' own.
set -euo pipefail
python3 cli/capture.py data/models
