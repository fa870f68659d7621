"""Damages a model for the tests: sets one number of a tensor of a safetensors file.

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
bytes_of = {
    "F32": lambda x: struct.pack("<f", x),
    "F16": lambda x: struct.pack("<e", x),
    "BF16": lambda x: struct.pack("<f", x)[2:],
}[tensor["dtype"]](float(value))
place = 8 + length + tensor["data_offsets"][0] + len(bytes_of) * int(index)
assert place < 8 + length + tensor["data_offsets"][1]
content[place:place + len(bytes_of)] = bytes_of
with open(path, "wb") as file:
    file.write(content)
