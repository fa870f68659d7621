"""Lets every Nth allocation, write and read of qkscope fail, until the command succeeds.

    torture.py PROGRAM SCRATCH [--sample K] [--jobs N] [scenario:kind...]

PROGRAM is qkscope-torture of the build with AddressSanitizer. After each fault: the exit code is one
of the program's own, a failure is said, nothing leaked and nothing crashed (both would end it with
code 99), every file in the output folder is the old one or the new one to the last byte, no
temporary file stays, and success means that all files are new. --sample K takes K faults of each
kind, spread evenly.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
data, demo = tests / "data", tests.parent / "demo"
KINDS = ("alloc", "write", "read")
CRASHED, PARTIAL = 99, 3


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def study(folder, length):
    return put(folder / f"study{length}.yaml", f"""name: tiny
kind: models
text: {{path: {folder}/ids.jsonl}}
capture: {{groups: 2, pairs: 2, heads: 1}}
defaults: {{max_length: {length}}}
models:
  - {{label: a, model: {data}/models/qwen3-yarn}}
  - {{label: b, model: {data}/models/qwen3-norm}}
figures: none
""")


def scenarios(folder):
    """Name: (command for the old outputs, command that is tortured); OUT is the output folder."""
    ids = put(folder / "ids.jsonl", '{"input_ids": [1, 2, 3, 4, 5]}\n{"input_ids": [6, 7, 8]}\n')
    text = put(folder / "text.jsonl", '{"id": "a", "text": "One two three, four."}\n')
    heads = folder / "dataset"
    for head in ("l00h00q", "l00h00k"):
        shutil.copytree(data / "analysis/dataset" / head, heads / head, dirs_exist_ok=True)
    analyze = ["analyze", heads, "--shape", "1/1/1", "--model", "m", "--threads", "1", "--out", "OUT"]
    merge = ["merge", heads, "--shape", "1/1/1", "--model", "m", "--threads", "1", "--plasticity",
             "3", "--out", "OUT/a.unit"]
    model = data / "models/qwen3-yarn"
    capture = ["capture", model, "--text", ids, "--groups", "2", "--heads", "1", "--layers", "0",
               "--threads", "1", "--out", "OUT"]
    spoken = ["capture", demo / "nano-qwen3", "--text", text, "--tokenizer", demo / "tokenizer.json",
              "--heads", "1", "--layers", "0", "--max-length", "6", "--threads", "1", "--out", "OUT"]
    run = ["run", "STUDY", "--threads", "1", "--out", "OUT"]
    return {
        "analyze": (analyze + ["--components", "2"], analyze + ["--plasticity", "none"]),
        "merge": (merge + ["--groups", "2"], merge),
        "capture": (capture + ["--pairs", "none"], capture),
        "vectors": (None, capture + ["--keep", "both"]),
        "text": (None, spoken),
        "run": ([study(folder, 4) if a == "STUDY" else a for a in run],
                [study(folder, 5) if a == "STUDY" else a for a in run]),
    }


class Scenario:
    def __init__(self, program, folder, name, commands):
        self.program, self.name = program, name
        self.folder = folder / name
        self.first, self.command = commands
        self.old, self.new = self.folder / "old", self.folder / "new"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.old.mkdir(parents=True)
        if self.first:
            self.must(self.first, self.old)
        shutil.copytree(self.old, self.new)
        self.must(self.command, self.new)

    def run(self, command, out, fault=None, log=None):
        # Workers keep their messages to themselves, so reports go to files beside the folder.
        report = f"exitcode={CRASHED}:log_path={out}.report"
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1",
                           QKSCOPE_ISOLATION="none", # or workers could not write reports
                           ASAN_OPTIONS=f"{report}:abort_on_error=0:allocator_may_return_null=1",
                           UBSAN_OPTIONS=f"{report}:print_stacktrace=1",
                           LSAN_OPTIONS=f"{report}:print_suppressions=0:suppressions="
                                        f"{tests.parent}/cmake/lsan.supp")
        environment.pop("QKS_FAULT", None)
        if fault:
            environment.update(QKS_FAULT=fault, QKS_FAULT_LOG=str(log))
        words = [str(word).replace("OUT", str(out)) for word in command]
        return subprocess.run([self.program, *words], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=300)

    def must(self, command, out):
        done = self.run(command, out)
        if done.returncode != 0:
            sys.exit(f"torture {self.name}: fails without a fault: {done.stderr}")

    def inject(self, kind, number, lasting):
        """(calls of the kind that a process made, what is wrong or None)"""
        fault = f"{kind}:{number}{'+' if lasting else ''}"
        name = fault.replace(":", "-") # a colon would end a sanitizer's option
        out, log = self.folder / name, self.folder / (name + ".calls")
        shutil.rmtree(out, ignore_errors=True)
        for path in (log, *out.parent.glob(out.name + ".report.*")):
            path.unlink(missing_ok=True)
        shutil.copytree(self.old, out)
        try:
            done = self.run(self.command, out, fault, log)
            wrong = self.judge(done, out, lasting)
        except subprocess.TimeoutExpired:
            done, wrong = None, "hangs"
        calls = max(map(int, log.read_text().split())) if log.exists() else 0
        log.unlink(missing_ok=True)
        if wrong:
            put(self.folder / (name + ".txt"), f"{wrong}\n{done.stderr if done else ''}")
            return calls, f"{self.name} {fault}: {wrong}"
        shutil.rmtree(out)
        return calls, None

    def judge(self, done, out, lasting):
        if done.returncode not in (0, 1, 2, 3):
            return f"ends with {done.returncode}"
        reports = list(out.parent.glob(out.name + ".report.*"))
        if reports:
            return reports[0].read_text(errors="replace")[:4000]
        if done.returncode != 0 and not done.stderr.startswith("qkscope: "):
            return "fails without a word"
        for path in sorted(out.rglob("*")):
            name = path.relative_to(out)
            if any(part.endswith(".part") for part in name.parts):
                if not lasting: # what always fails cannot be tidied up; the next run does
                    return f"leaves {name}"
            elif (path.is_file() and path.name not in (".lock", "manifest.json")
                  # a model failed, and these are of the others
                  and not (done.returncode == PARTIAL and name.parts[0] in ("tables", "report.html"))
                  and not self.known(path, name, out)):
                return f"{name} is neither old nor new"
        if done.returncode == 0:
            for path in self.new.rglob("*"):
                name = path.relative_to(self.new)
                if path.is_file() and path.name not in (".lock", "manifest.json", "report.html") and (
                        not (out / name).is_file() or (out / name).read_bytes() != self.bytes(path, out)):
                    return f"says nothing, but {name} is not as it should be"
        return None

    @staticmethod
    def bytes(path, out):
        """A file's content as it would be in `out`."""
        content = path.read_bytes()
        if path.suffix in (".yaml", ".html", ".json"):
            for folder in ("old", "new"):
                content = content.replace(str(out.parent / folder).encode(), str(out).encode())
        return content

    def known(self, path, name, out):
        if path.name == "report.html": # holds the manifest's times; it is whole if it has an end
            return path.read_bytes().rstrip().endswith(b"</html>")
        content = path.read_bytes()
        return any((folder / name).is_file() and self.bytes(folder / name, out) == content
                   for folder in (self.old, self.new))


def torture(scenario, kind, sample, pool):
    total, wrong = scenario.inject(kind, 1 << 40, False)
    assert wrong is None and total > 0, wrong
    numbers = range(1, total + 1)
    if sample and total > sample:
        numbers = sorted({1 + i * (total - 1) // (sample - 1) for i in range(sample)})
    jobs = [pool.submit(scenario.inject, kind, n, n % 4 == 0) for n in numbers]
    wrong = [text for text in (job.result()[1] for job in jobs) if text]
    print(f"torture {scenario.name:8} {kind:6} {total:5} calls, {len(numbers):5} failed in turn, "
          f"{len(numbers) - len(wrong):5} survived", flush=True)
    for text in wrong[:20]:
        print("  " + text[:600], flush=True)
    return len(numbers), len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("scratch")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("only", nargs="*")
    given = parser.parse_intermixed_args()
    folder = pathlib.Path(given.scratch).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = str(pathlib.Path(given.program).resolve())
    faults = bad = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for name, commands in scenarios(folder).items():
            kinds = [k for k in KINDS if not given.only or name in given.only
                     or f"{name}:{k}" in given.only]
            scenario = Scenario(program, folder, name, commands) if kinds else None
            for kind in kinds:
                fired, wrong = torture(scenario, kind, given.sample, pool)
                faults += fired
                bad += wrong
    print(f"torture: {faults} faults injected, {faults - bad} survived")
    sys.exit(bad > 0)


main()
