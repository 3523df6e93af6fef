"""An application with metric pages: python3 trainer.py STEP_MILLISECONDS."""

import random
import sys
import time

import pingloom_pages

pages = pingloom_pages.Pages("trainer")
steps, queue, done = pages.histogram("step_seconds", exemplars=True), pages.gauge("queue_depth", labels={"stage": "load"}), pages.counter("samples_total")
depth = 20.0
while True:
    for _ in range(50):
        steps.observe(float(sys.argv[1]) / 1000 * random.uniform(0.9, 1.1))
    steps.observe(float(sys.argv[1]) / 1000, {"trace_id": f"{random.getrandbits(128):032x}"})
    depth = max(0.0, depth + random.uniform(-1, 1))
    queue.set(depth)
    done.add(50)
    time.sleep(0.05)
