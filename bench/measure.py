"""What the benchmarks share: running a program under a clock, medians with their spread, tables in
Markdown, and a line that says where and when a section was measured."""
import dataclasses
import datetime
import importlib.metadata
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ["BENCH_BUILD"])
SCRATCH = pathlib.Path(os.environ["BENCH_SCRATCH"])
FULL = bool(os.environ.get("BENCH_FULL"))  # no samples: the slow sides do all of the work, too
QUICK = bool(os.environ.get("BENCH_QUICK"))  # small sizes, to see that it works
QKSCOPE = BUILD / "qkscope"
REPEATS = 1 if QUICK else 3


@dataclasses.dataclass
class Run:
    wall: float  # seconds
    cpu: float  # seconds, of all its threads
    peak: float  # largest resident size in MB
    output: str


def run(*command):
    """Runs a program to its end; a failure ends the benchmark."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\nfailed ({child.returncode}):\n"
                     f"{(out.read() + err.read())[-2000:]}")
        return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read())


def interleaved(jobs, repeats=REPEATS):
    """Calls every job of a dict in turn, again and again: name -> list of what it returned."""
    results = {name: [] for name in jobs}
    for turn in range(repeats):
        for name, job in jobs.items():
            say(f"{turn + 1}/{repeats} {name}")
            results[name].append(job())
    return results


def say(what):
    print(f"  {what}", file=sys.stderr, flush=True)


def spread(values, digits=2):
    """The median, and in brackets the smallest and largest."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def busy_seconds():
    """Processor time that the whole machine has spent working."""
    user, nice, system, _, _, irq, softirq, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Stamp:
    """Opened before a benchmark, printed after it: machine, versions, and what else was running."""

    def __init__(self, *packages):
        self.packages = packages
        self.start = time.time(), busy_seconds(), own_seconds()

    def __str__(self):
        wall = time.time() - self.start[0]
        others = busy_seconds() - self.start[1] - (own_seconds() - self.start[2])
        versions = [f"{name} {importlib.metadata.version(name)}" for name in self.packages]
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        revision = run(QKSCOPE, "version").output.split("\n", 1)[0].strip()
        return (f"Measured {datetime.date.today()} in {wall:.0f} s: {processor()}, "
                f"{os.cpu_count()} cores, {memory:.0f} GB, Linux {platform.release()}; "
                f"{'; '.join([revision, *versions])}. "
                f"Other programs kept {max(others, 0) / wall:.2f} cores busy meanwhile.")
