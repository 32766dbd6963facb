"""What the peers of bench/posteriors/speed.ts share: data of posteriors, and tasks that are run on request. On every line
`run NAME` a task runs once, and the answer is the processor's milliseconds."""
import json
import sys
import time

FOLDER = sys.argv[2]


def data_of(name):
    with open(f"{FOLDER}/{name}.json") as file:
        return json.load(file)["data"]


def answer(library, tasks):
    print(library, flush=True)
    for line in sys.stdin:
        task = tasks[line.split()[1]]
        began = time.process_time()
        task()
        print((time.process_time() - began) * 1000, flush=True)
