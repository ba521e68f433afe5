"""A worker in Python that uses only the standard library. SLUICE_SERVER and SLUICE_TOKEN have the URL and the token."""

import json
import os
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

SERVER = os.environ.get("SLUICE_SERVER", "http://127.0.0.1:8080")
NAME = f"python-{os.getpid()}"
CALLS = 16  # at a time

OPERATIONS = {
    "price": lambda call: 5 * call["input"]["count"],
    "charge": lambda call: f"{call['input']} for {call['key']}",
}

alive = set()  # leases of the calls under way
lock = threading.Lock()
free = threading.Semaphore(CALLS)


def ask(path, body=None):
    """Makes a request until the server answers it."""
    data = None if body is None else json.dumps({"worker": NAME, **body}).encode()
    headers = {"Authorization": "Bearer " + os.environ["SLUICE_TOKEN"], "Content-Type": "application/json"}
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(SERVER + path, data, headers)) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            if e.code < 500 and e.code != 429:
                raise SystemExit(e.read().decode())
        except OSError:
            pass  # the server does not answer now
        time.sleep(0.2)


def carry_out(call):
    result = {"lease": call["lease"]}
    try:
        if "input_href" in call:  # a large input
            call["input"] = ask(call["input_href"])
        result["output"] = OPERATIONS[call["operation"]](call)
    except Exception as e:  # any exception is a failure of the call
        result["error"] = {"code": type(e).__name__, "message": str(e), "retryable": True}
    ask("/v1/worker/give", {"results": [result]})
    with lock:
        alive.discard(call["lease"])
    free.release()


def show_life():
    while True:
        time.sleep(5)
        with lock:
            leases = list(alive)
        if leases:
            ask("/v1/worker/give", {"alive": leases})


threading.Thread(target=show_life, daemon=True).start()
with ThreadPoolExecutor(CALLS) as pool:
    while True:
        free.acquire()
        free.release()
        for call in ask("/v1/worker/take", {"operations": list(OPERATIONS), "max": 1, "wait": "30s"})["calls"]:
            free.acquire()
            with lock:
                alive.add(call["lease"])
            pool.submit(carry_out, call)
