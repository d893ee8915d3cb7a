"""Measures streams against a bare relay, then the read path: `make bench`, or with options `python -m tests.bench --help`."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RANKS = Path(os.environ.get("TIKTOKEN_DIR") or ROOT / "data" / "tiktoken").resolve()
LOAD = Path(os.environ.get("SHARED_DIR") or ROOT.parent / "shared") / "bench" / "load"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(stack: ExitStack, command: list[str], port: int, env: dict[str, str]) -> int:
    """Starts a server, waits until it listens, and returns its process id."""
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | env, start_new_session=True)

    def end() -> None:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)

    stack.callback(end)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process.pid
        time.sleep(0.05)
    raise SystemExit(f"{command[1:3]} did not start")


def streams(args: argparse.Namespace, stack: ExitStack) -> int:
    data = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
    if RANKS.is_dir():  # as an installation has them; without, tokens are estimated
        Path(data, "tiktoken").symlink_to(RANKS)
    model_port, relay_port, app_port = free_port(), free_port(), free_port()
    model = f"mock/text=stamp,tokens={args.tokens},delay={args.delay}"
    env = {"DATA_DIR": data, "PORT": str(app_port), "RUNS_PER_MINUTE": "1000000", "MODEL_URL": f"http://127.0.0.1:{model_port}"}
    if args.database:
        env["DATABASE_URL"] = args.database
    python = sys.executable
    start(stack, [python, str(LOAD / "mock_provider.py"), "--port", str(model_port), "--keep", "0"], model_port, {})
    relay = start(stack, [python, "-m", "daphne", "-p", str(relay_port), "-v", "0", "tests.bench.relay:application"], relay_port, env)
    for command in (["manage.py", "migrate", "-v", "0"], ["-m", "tests.bench.seed", str(max(args.concurrency)), model]):
        subprocess.run([python, *command], cwd=ROOT, env=os.environ | env, check=True)
    app = start(stack, [python, "manage.py", "web"], app_port, env)
    targets = {
        "direct": f"direct,url=http://127.0.0.1:{model_port}",
        "relay": f"ws,url=http://127.0.0.1:{relay_port},pid={relay}",
        "page": f"tests/bench/adapter.py:Page,url=http://127.0.0.1:{app_port},pid={app}",
    }
    command = [python, str(LOAD / "load.py"), "--tokens", str(args.tokens), "--delay", str(args.delay), "--repeats", str(args.repeats)]
    command += ["--concurrency", ",".join(map(str, args.concurrency)), "--base", "relay", "--strict"]
    for name, target in targets.items():
        command += ["--target", f"{name}={target}"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--concurrency", type=lambda text: [int(one) for one in text.split(",")], default=[20, 100])
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--delay", type=int, default=20, help="ms between tokens")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--database", default="", help="a DATABASE_URL (default: SQLite)")
    parser.add_argument("--threads", type=int, default=10_000, help="for the read path; 0 leaves it out")
    args = parser.parse_args()
    code = 0
    if LOAD.is_dir():
        with ExitStack() as stack:
            code = streams(args, stack)
    else:
        print("The load client is not there (SHARED_DIR): the streams are left out.")
    if args.threads:
        subprocess.run([sys.executable, "-m", "tests.bench.read_path", str(args.threads)], cwd=ROOT, check=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
