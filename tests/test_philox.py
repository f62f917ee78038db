"""The place-based generator: published answers, the same words from C, values where they belong."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from reportgen.philox import _blocks, uniform, words

ALL_ONES = (1 << 64) - 1
INCLUDE = Path(__file__).parents[1] / "reportgen" / "measure" / "backends"
TWIN = """
#include "reportgen_philox.h"
void words(unsigned long long seed, unsigned long long stream, unsigned long long first, int count, unsigned int *out)
{
    for (int i = 0; i < count; i++)
        out[i] = reportgen_philox(seed, stream, (first + i) / 4).lane[(first + i) % 4];
}
void block(unsigned long long seed, unsigned long long stream, unsigned long long at, unsigned int *out)
{
    for (int lane = 0; lane < 4; lane++)
        out[lane] = reportgen_philox(seed, stream, at).lane[lane];
}
float uniform(unsigned int word) { return reportgen_uniform(word); }
"""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Compile the header as C."""
    folder = tmp_path_factory.mktemp("twin")
    (folder / "twin.c").write_text(TWIN)
    command = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Werror",
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{INCLUDE}",
        "twin.c",
        "-o",
        "twin.so",
    ]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "twin.so"))
    library.words.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p]
    library.block.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
    library.uniform.argtypes, library.uniform.restype = [ctypes.c_uint32], ctypes.c_float
    return library


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ALL_ONES, ALL_ONES), ALL_ONES, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x85A308D3243F6A88, 0x0370734413198A2E),
            0x299F31D0A4093822,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_published_answers_come_out(
    twin: ctypes.CDLL, counter: tuple[int, int], key: int, answer: tuple[int, ...]
) -> None:
    """Known answers of the Random123 library for philox4x32 with 10 rounds: all bits zero, all one, digits of pi."""
    block, stream = counter
    out = np.zeros(4, np.uint32)
    twin.block(key, stream, block, out.ctypes.data)
    assert list(answer) == out.tolist()
    assert [list(answer)] == _blocks(key, stream, np.array([block], np.uint64)).tolist()


@pytest.mark.parametrize("first", [0, 1, 5, (1 << 34) - 3])
def test_c_draws_the_same_words(twin: ctypes.CDLL, first: int) -> None:
    """From any place, also where the block's number outgrows 32 bits."""
    out = np.zeros(23, np.uint32)
    twin.words(0x0123456789ABCDEF, 7, first, out.size, out.ctypes.data)
    assert out.tolist() == words(0x0123456789ABCDEF, 7, first, out.size).tolist()


def test_c_makes_the_same_values(twin: ctypes.CDLL) -> None:
    """Bit for bit."""
    drawn = uniform(3, 1, 0, 100)
    assert [twin.uniform(int(word)) for word in words(3, 1, 0, 100)] == drawn.tolist()


def test_a_part_is_a_part_of_the_whole() -> None:
    """Pieces drawn apart are the pieces of one stream; streams and seeds differ."""
    whole = words(5, 2, 0, 1 << 21)
    assert np.array_equal(whole[1_048_571:1_048_600], words(5, 2, 1_048_571, 29))
    assert whole[0] != words(5, 3, 0, 1)[0]
    assert whole[0] != words(6, 2, 0, 1)[0]


def test_values_fill_the_interval_evenly() -> None:
    """Mean 0 and variance 1/3 within five standard errors; the ends are as stated."""
    values = uniform(9, 0, 0, 1_000_000).astype(np.float64)
    assert values.min() >= -1
    assert values.max() < 1
    assert abs(values.mean()) < 5 * np.sqrt(1 / 3 / values.size)
    assert abs(values.var() - 1 / 3) < 5 * np.sqrt(4 / 45 / values.size)
