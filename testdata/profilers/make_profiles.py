"""Writes one profile of a small judge in every form that yappi and cProfile have.

Names of files are in every profile, so it is run where these say nothing, with a
Python that has yappi (Debian: python3-yappi):

    cp make_profiles.py /app/judge.py && python3 /app/judge.py testdata/profilers

The judge is a server like those of NeMo Gym: tasks of asyncio that wait for an
answer, check it and remember it. What the tests hold the readers against is
written by Python itself: *.want.json has what its own pstats reads from the
binary files.
"""

import asyncio
import cProfile
import io
import json
import os
import pstats
import sys
import threading

import yappi


class Judge:
    async def verify(self, n):
        await asyncio.sleep(0.002)
        return self.check(n)

    def check(self, n):
        if depth(12) > 0:
            return self.compare(n)

    def compare(self, n):
        total = 0
        for i in range(300):
            total += square(i + n)
        return total


def square(i):
    return i * i


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n > 0 and even(n - 1)


async def serve():
    judge = Judge()
    even(8)
    await asyncio.gather(*[judge.verify(i) for i in range(40)])


COLUMNS = {0: ("name", 200), 1: ("ncall", 10), 2: ("tsub", 8), 3: ("ttot", 8), 4: ("tavg", 8)}


def printed(stats, **columns):
    out = io.StringIO()
    stats.print_all(out=out, **columns)
    return out.getvalue()


def with_yappi(clock):
    yappi.clear_stats()
    yappi.set_clock_type(clock)
    yappi.start(builtins=False)
    worker = threading.Thread(target=Judge().compare, args=(1,), name="worker")
    worker.start()
    asyncio.run(serve())
    worker.join()
    yappi.stop()
    stats = yappi.get_func_stats()
    stats.sort("ttot", "desc")
    base = "yappi_" + clock
    text = printed(stats, columns=COLUMNS)
    write(base + ".txt", text)
    if clock == "cpu":
        write(base + "_narrow.txt", printed(stats))
    # What NeMo Gym keeps: the head, and the lines of the server's own file.
    head, *rows = text.rstrip("\n").rsplit("tavg", 1)
    lines = [line for line in rows[0].split("\n")[1:] if "judge.py" in line]
    write(base + "_server.log", head + "tavg      \n" + "\n".join(lines) + "\n")
    write(base + "_threads.txt", printed(yappi.get_thread_stats()))
    stats.save(base + ".callgrind", type="callgrind")
    stats.save(base + ".pstat", type="pstat")
    want(base + ".pstat")


def with_cprofile():
    profile = cProfile.Profile()
    profile.enable()
    asyncio.run(serve())
    profile.disable()
    profile.dump_stats("cprofile.prof")
    want("cprofile.prof")
    for name, printed_by in {
        "pstats.txt": lambda s: s.sort_stats("cumulative").print_stats(),
        "pstats_top.txt": lambda s: s.sort_stats("tottime").print_stats(7),
        "pstats_callers.txt": lambda s: s.print_callers(5),
    }.items():
        out = io.StringIO()
        printed_by(pstats.Stats("cprofile.prof", stream=out))
        write(name, scrubbed(out.getvalue()))


def scrubbed(text):
    """Drops the date, which pstats prints above the name of the file."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if not line.endswith("    cprofile.prof"))


def want(path):
    """Writes what Python itself reads: file, line, name -> calls, times, callers."""
    rows = []
    for (file, line, name), (cc, nc, tt, ct, callers) in sorted(pstats.Stats(path).stats.items()):
        calls = {}
        for (f, l, n), v in sorted(callers.items()):
            calls["%s|%d|%s" % (f, l, n)] = v[3]
        rows.append({"file": file, "line": line, "name": name, "calls": max(cc, nc),
                     "primitive": min(cc, nc), "self": tt, "total": ct, "callers": calls})
    write(path + ".want.json", json.dumps(rows, indent=None).replace("}, {\"file", "},\n{\"file") + "\n")


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    sys.argv[1:] = []
    for clock in ("cpu", "wall"):
        with_yappi(clock)
    with_cprofile()
