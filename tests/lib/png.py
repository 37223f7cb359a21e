"""Reads a PNG of 8 bits a channel without a library: read(path) gives its rows, each a list of (red, green, blue)."""
import struct
import zlib


def _undo(kind, line, above, step):
    """Undoes a row's filter (PNG specification, section 9) in place."""
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = (line[i] + line[i - step]) & 255
    elif kind == 2:
        line[:] = bytes((a + b) & 255 for a, b in zip(line, above))
    elif kind == 3:
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            line[i] = (line[i] + (left + above[i]) // 2) & 255
    elif kind == 4:
        for i in range(len(line)):
            left, corner = (line[i - step], above[i - step]) if i >= step else (0, 0)
            p, up = left + above[i] - corner, above[i]
            a, b, c = abs(p - left), abs(p - up), abs(p - corner)
            line[i] = (line[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255


def read(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[at + 8:at + 21])
            assert depth == 8 and colour in (2, 6) and not interlaced, path
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    step = 3 if colour == 2 else 4
    raw, above, rows = zlib.decompress(packed), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        _undo(raw[start], line, above, step)
        rows.append(list(zip(line[0::step], line[1::step], line[2::step])))
        above = line
    return rows
