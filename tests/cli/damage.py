"""Damages a model for the tests: sets one number of a float32 tensor of a safetensors file.

    damage.py FILE TENSOR INDEX VALUE
"""
import json
import struct
import sys

path, name, index, value = sys.argv[1:]
with open(path, "rb") as file:
    content = bytearray(file.read())
length = struct.unpack_from("<Q", content)[0]
tensor = json.loads(content[8:8 + length])[name]
assert tensor["dtype"] == "F32", tensor
place = 8 + length + tensor["data_offsets"][0] + 4 * int(index)
assert place < 8 + length + tensor["data_offsets"][1]
struct.pack_into("<f", content, place, float(value))
with open(path, "wb") as file:
    file.write(content)
