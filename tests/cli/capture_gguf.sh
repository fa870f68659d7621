#!/usr/bin/env bash
# The same from .gguf files, as llama.cpp's converter writes them (data/gguf/README.md).
set -euo pipefail
python3 cli/capture.py data/gguf data/models data/models_generated
