# SPDX-License-Identifier: MIT
"""Shows the values of wsl in gdb as their users know them.

    (gdb) source scripts/gdb/wsl.py
    (gdb) print me
    $1 = PE(1, 0) running adder

or the first line in ~/.gdbinit. docs/guide/debug.md shows a session.
"""
import re

import gdb
import gdb.printing

SIDES = ((1, "ramp"), (2, "east"), (4, "west"), (8, "north"), (16, "south"))


def place(x, y):
    return "PE(%d, %d)" % (int(x), int(y))


def ports(bits):
    names = [name for bit, name in SIDES if int(bits) & bit]
    return names[0] if len(names) == 1 else "(%s)" % " | ".join(names)


def span(one, start, end, step):
    if end - start == 1:
        return "%s %d" % (one, start)
    every = " every %d" % step if step > 1 else ""
    return "%ss %d to %d%s" % (one, start, end - 1, every)


class Coord:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return place(self.value["x"], self.value["y"])


class Color:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "color %d of %s" % (int(self.value["id"]), self.value.type.strip_typedefs().template_argument(0))


class Port:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return ports(int(self.value))


class Ports:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return ports(self.value["bits"]) if int(self.value["bits"]) else "no port"


class Route:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "%s >> %s" % (ports(self.value["from"]["bits"]), ports(self.value["to"]["bits"]))


class Region:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        x0, x1, sx, y0, y1, sy = (int(self.value[n]) for n in ("x0", "x1", "sx", "y0", "y1", "sy"))
        if x0 >= x1 or y0 >= y1:
            return "no PE"
        if x1 - x0 == 1 and y1 - y0 == 1:
            return place(x0, y0)
        return span("column", x0, x1, sx) + " and " + span("row", y0, y1, sy)


class Wavelet:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = "control wavelet" if bool(self.value["control"]) else "wavelet"
        return "%s 0x%08x of color %d" % (kind, int(self.value["bits"]), int(self.value["color"]))


class Memory:
    """A descriptor, with the elements that it names."""

    most = 200

    def __init__(self, value):
        self.value = value

    def to_string(self):
        element = self.value.type.strip_typedefs().template_argument(0)
        text = "memory of %d %s" % (int(self.value["length_"]), element)
        stride = int(self.value["stride_"])
        return text if stride == 1 else text + ", stride %d" % stride

    def children(self):
        first, stride = self.value["first_"], int(self.value["stride_"])
        for i in range(min(int(self.value["length_"]), self.most)):
            yield "[%d]" % i, (first + i * stride).dereference()

    def display_hint(self):
        return "array"


class Pe:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        state = self.value["state_"]
        text = place(state["x"], state["y"])
        if int(state["image"]) == 0:
            return text
        return "%s running %s" % (text, state["image"]["source"]["name"].string())


class State(Pe):
    def __init__(self, value):
        super().__init__({"state_": value})


class Half:
    """f16 and bf16 as the number that they stand for."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = self.value.type.strip_typedefs()
        exponent, fraction = int(kind.template_argument(0)), int(kind.template_argument(1))
        bits = int(self.value["bits"])
        sign = -1.0 if bits >> 15 else 1.0
        e, m = bits >> fraction & (1 << exponent) - 1, bits & (1 << fraction) - 1
        bias = (1 << exponent - 1) - 1
        if e == (1 << exponent) - 1:
            return "nan" if m else "inf" if sign > 0 else "-inf"
        number = m / (1 << fraction) * 2.0 ** (1 - bias) if e == 0 else (1 + m / (1 << fraction)) * 2.0 ** (e - bias)
        return "%.6g" % (sign * number)


def printers():
    all_of_wsl = gdb.printing.RegexpCollectionPrettyPrinter("wsl")
    for name, printer in (
        ("coord", Coord),
        ("color<.*>", Color),
        ("port", Port),
        ("ports", Ports),
        ("route", Route),
        ("region", Region),
        ("wavelet", Wavelet),
        ("memory<.*>", Memory),
        ("pe", Pe),
        ("engines::pe_state", State),
        ("basic_half<.*>", Half),
    ):
        all_of_wsl.add_printer(re.sub(r"\W+", "_", name), "^wsl::%s$" % name, printer)
    return all_of_wsl


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
