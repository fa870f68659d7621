#!/usr/bin/env bash
# The same for models with what the fixtures do not have (data/models_generated/make.py).
set -euo pipefail
python3 cli/capture.py data/models_generated
