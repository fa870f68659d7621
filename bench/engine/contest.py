"""Programs that run one pass per command and take turns: qkscope (bench_forward), PyTorch, llama.cpp.

Each is a process that opens its model once, says "ready", and answers each line on its stdin with
wall and processor seconds of a pass."""
import pathlib
import subprocess
import sys

import models
from measure import BUILD, SCRATCH

HERE = pathlib.Path(__file__).parent
THREADS = 2
GROUPS = 20  # forward.c's


class Contender:
    def __init__(self, command, orders="pass", group=None):
        """`group`: the folder of a cgroup to run in."""
        join = (lambda: (group / "cgroup.procs").write_text("0")) if group else None
        self.errors = open(SCRATCH / "contender.log", "w+")
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        preexec_fn=join)
        self.orders = orders
        self.walls, self.cpus = [], []
        if self.answer() != ["ready"]:
            self.fail()

    def fail(self):
        self.errors.seek(0)
        sys.exit(f"{self.process.args}\nfailed:\n{self.errors.read()[-2000:]}")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.fail()
        return line.split()

    def turn(self, orders=None, count=True):
        self.process.stdin.write((orders or self.orders) + "\n")
        self.process.stdin.flush()
        wall, cpu = map(float, self.answer())
        if count:
            self.walls.append(wall)
            self.cpus.append(cpu)
        return wall

    def peak(self):
        """Largest resident size so far in MB, mapped weights included."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return 0

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def qkscope(shape, dtype, tokens, documents=1, orders="moments", group=None):
    """A pass over `documents` documents: the first of the GROUPS groups."""
    text = models.tokens(tokens, documents * GROUPS)
    return Contender([BUILD / "bench" / "bench_forward", models.made(shape, dtype), text, THREADS,
                      SCRATCH / "bench.unit"], orders, group)


def torch(shape, dtype, tokens, *options):
    return Contender([sys.executable, HERE / "peer_torch.py", models.made(shape, dtype),
                      models.tokens(tokens), THREADS, dtype, *options])


def llama(shape, dtype, tokens, *options):
    return Contender([sys.executable, HERE / "peer_llama.py", models.made_gguf(shape, dtype),
                      models.tokens(tokens), THREADS, *options])
