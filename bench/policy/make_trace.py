#!/usr/bin/env python3
"""Writes a trace of look-ups for policy_sim: KEY SIZE_BYTES COST_US a line.

Several starts of an application: each reads its start-up programs in one order, then programs by Zipf's law; now and then
something reads many programs exactly once (a scan, such as a pre-caching run). Costs are lognormal and unrelated to size.
"""
# SPDX-License-Identifier: MIT
import argparse
import random

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--starts", type=int, default=20)
parser.add_argument("--programs", type=int, default=4000)
parser.add_argument("--scan", type=int, default=3000, help="programs read once, after every fifth start")
arguments = parser.parse_args()

rng = random.Random(arguments.seed)
known = {}


def look_up(key):
    if key not in known:
        size = min(65536, max(1024, int(rng.lognormvariate(8.7, 0.8))))
        known[key] = (size, int(rng.lognormvariate(8.5, 1.2)))
    print(key, *known[key])


weights = [1 / (i + 1) ** 0.99 for i in range(arguments.programs)]
for start in range(arguments.starts):
    for i in range(200):
        look_up(f"start{i}")
    for i in rng.choices(range(arguments.programs), weights, k=6000):
        look_up(f"program{i}")
    if start % 5 == 4:
        for i in range(arguments.scan):
            look_up(f"scan{start}-{i}")
