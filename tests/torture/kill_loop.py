"""Kills a study at random moments, with kill -9, and looks at what is left.

    kill_loop.py PROGRAM SCRATCH KILLS [--seed N] [--study FILE]

Each life of a study: run, be killed, run again, until a run comes to its end; then another life
begins. Killed are, by turns, everything, the study's process alone, a worker alone; and each of
these under mpirun with two ranks. After each kill every unit and table must be the one that an
undisturbed run wrote, to the last byte, or not be there (PDFs have a date in them, explanations the
run's folder), and a unit that was there before must be the
same file: nothing finished is computed twice. At the end of a life nothing may be missing. The study is
a small one of two of the demo's models, unless another is named.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

tests = pathlib.Path(__file__).resolve().parent.parent
demo = tests.parent / "demo"
PARTIAL = 3
VICTIMS = ("all", "study", "worker")


def write_study(folder):
    rows = (demo / "text.jsonl").read_text().splitlines()[:6]
    (folder / "text.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "study.yaml").write_text(f"""name: small
kind: training
text: {{path: text.jsonl, column: text, id: id}}
capture: {{groups: 3, pairs: 8}}
defaults: {{tokenizer: {demo}/tokenizer.json, max_length: 128}}
models:
  - {{label: early, phase: one, model: {demo}/S1-60}}
  - {{label: late, phase: two, model: {demo}/LC1-60}}
figures: none
""")
    return folder / "study.yaml"


def children_of(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*"):
        try:
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *children_of(child)]
        except OSError:
            pass
    return found


def is_worker(process):
    try:
        return b"\0worker\0" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def kill(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Loop:
    def __init__(self, program, folder, study):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.program, self.folder = program, folder
        self.study = pathlib.Path(study).resolve() if study else write_study(folder)
        self.whole, self.out = folder / "whole", folder / "out"
        self.units = {} # of this life: when each was written
        self.stuck = 0
        self.partial = False # the tables are those of a study in which a model failed
        began = time.monotonic()
        if self.start(self.whole, False).wait() != 0:
            sys.exit("kill-loop: the study fails undisturbed")
        self.length = time.monotonic() - began

    def start(self, out, ranks):
        command = [self.program, "run", self.study, "--threads", "1", "--out", out]
        if ranks:
            command = ["mpirun", "--oversubscribe", "-n", "2", *command]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_btl_vader_single_copy_mechanism="none",
                           OMP_WAIT_POLICY="passive")
        return subprocess.Popen(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self, run, ranks):
        """Open MPI's mpirun can wait for ever when a rank dies while it starts; ranks may not."""
        try:
            run.wait(60 + 5 * self.length)
        except subprocess.TimeoutExpired:
            left = children_of(run.pid)
            kill([run.pid, *left])
            run.wait()
            if left or not ranks:
                sys.exit("kill-loop: a run hangs")
            self.stuck += 1

    def disturb(self, victim, ranks, pause):
        """Runs the study and kills the victim; True if there was one."""
        run = self.start(self.out, ranks)
        time.sleep(pause)
        processes = children_of(run.pid) if run.poll() is None else []
        hit = run.poll() is None
        if victim == "worker":
            workers = [p for p in processes if is_worker(p)]
            hit = bool(workers)
            kill(workers[:1])
        elif victim == "study":
            kill([p for p in processes if not is_worker(p)][:1] if ranks else [run.pid])
        else:
            kill([run.pid, *processes])
        self.wait(run, ranks)
        self.partial = run.returncode == PARTIAL or (self.partial and run.returncode != 0)
        deadline = time.monotonic() + 30
        for process in processes: # nobody lives on
            while pathlib.Path(f"/proc/{process}").exists():
                state = pathlib.Path(f"/proc/{process}/stat")
                try:
                    if state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                        break
                except OSError:
                    break
                if time.monotonic() > deadline:
                    kill(processes)
                    sys.exit(f"kill-loop: process {process} lives on after {victim} was killed")
                time.sleep(0.01)
        return hit, run.returncode

    def look(self, complete):
        for path in self.out.rglob("*"):
            name = path.relative_to(self.out)
            if (path.is_dir() or any(part.endswith(".part") for part in name.parts)
                    or path.name in (".lock", "manifest.json", "study.resolved.yaml")
                    or (name.parts[0] == "figures" and path.suffix in (".pdf", ".md"))
                    or (self.partial and name.parts[0] in ("tables", "figures"))):
                continue
            if path.suffix == ".unit" and (written := path.stat().st_mtime_ns) != self.units.setdefault(
                    name, written):
                sys.exit(f"kill-loop: {name} was there and was computed once more; see {self.out}")
            if path.name == "report.html":
                fine = path.read_bytes().rstrip().endswith(b"</html>")
            else:
                fine = path.read_bytes() == (self.whole / name).read_bytes()
            if not fine:
                sys.exit(f"kill-loop: {name} is not what it should be; see {self.out}")
        for path in self.whole.rglob("*") if complete else ():
            if path.is_file() and not (self.out / path.relative_to(self.whole)).is_file():
                sys.exit(f"kill-loop: {path.relative_to(self.whole)} is missing; see {self.out}")

    def finish(self):
        code = self.start(self.out, False).wait()
        if code != 0:
            sys.exit(f"kill-loop: the last run of a life ends with {code}")
        self.partial = False
        self.look(True)
        if list(self.out.rglob("*.part")):
            sys.exit(f"kill-loop: temporary files stay in {self.out}")
        shutil.rmtree(self.out)
        self.units = {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("scratch")
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--study")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    print(f"kill-loop: seed {given.seed}", flush=True)
    loop = Loop(pathlib.Path(given.program).resolve(), pathlib.Path(given.scratch).resolve(),
                given.study)
    counts = {(victim, ranks): 0 for victim in VICTIMS for ranks in (False, True)}
    mpirun = shutil.which("mpirun") is not None
    lives, deaths = 0, 0
    while deaths < given.kills:
        ranks = mpirun and chance.random() < 0.3
        victim = chance.choice(VICTIMS)
        hit, code = loop.disturb(victim, ranks, chance.uniform(0, loop.length))
        loop.look(code == 0)
        counts[victim, ranks] += hit
        deaths += hit
        if hit and deaths % 20 == 0:
            print(f"kill-loop: {deaths} kills, {lives} lives", flush=True)
        if code == 0 or chance.random() < 0.2:
            loop.finish()
            lives += 1
    if loop.out.exists():
        loop.finish()
        lives += 1
    for (victim, ranks), count in counts.items():
        print(f"kill-loop: {count:4} times {victim}{' under mpirun' if ranks else ''}")
    if loop.stuck:
        print(f"kill-loop: {loop.stuck} times mpirun itself had to be ended, all its ranks gone")
    print(f"kill-loop: {deaths} kills survived in {lives} lives")


main()
