#!/usr/bin/env python3
"""Writes a trace of look-ups for policy_sim: KEY SIZE_BYTES COST_US a line, and "# start" where a process starts.

SHAPE says how programs are used:
  starts    an application reads its start-up programs in one order, then others by Zipf's law; now and then something
            reads many programs exactly once (a scan, such as a pre-caching run); costs are unrelated to size
  scenes    scenes that share some programs, all of them in order, three times over
  visits    the same scenes by Zipf's law
  games     starts of 80 games by Zipf's law; a game reads all of its programs at each start
  levels    one game: levels in order, each played one to three times; two updates that change all programs
  develop   shaders that are edited: each version is used until the next one, and never again
  desktop   40 applications by Zipf's law, and a browser, whose sites are mostly seen once
  loop      6000 programs in one order, six times over
  shift     eight phases, each with programs of its own, by Zipf's law
  emulator  areas of one large game by a random walk; new programs in known areas again and again
  tabs      a browser: some pages stay open and come back, others are visited once or twice

The recorded traces were not looked at while the default policy was designed.
"""
# SPDX-License-Identifier: MIT
import argparse
import random

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("shape", metavar="SHAPE")
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()

rng = random.Random(arguments.seed)
known = {}


def look_up(key, median_log=9.2, spread=0.9):
    """Sizes are lognormal; a cost grows with the size, and differs tenfold between programs of one size."""
    if key in known:
        print(key)
        return
    size = min(2_000_000, max(700, int(rng.lognormvariate(median_log, spread))))
    known[key] = (size, 50 + int((size / 1000) ** 0.7 * 600 * rng.lognormvariate(0, 1)))
    print(key, *known[key])


def look_up_unrelated(key):
    if key not in known:
        size = min(65536, max(1024, int(rng.lognormvariate(8.7, 0.8))))
        known[key] = (size, int(rng.lognormvariate(8.5, 1.2)))
    print(key, *known[key])


def start():
    print("# start")


def zipf(count, exponent):
    return [1 / (i + 1) ** exponent for i in range(count)]


def chosen(count, exponent, times):
    return rng.choices(range(count), zipf(count, exponent), k=times)


def make_sets(count, size, shared, common):
    """Sets of programs, a part of which comes from those that all have in common."""
    return [[f"common{rng.randrange(common)}" if rng.random() < shared else f"set{number}-{i}"
             for i in range(max(10, int(rng.lognormvariate(0, 0.6) * size)))] for number in range(count)]


def starts():
    for number in range(20):
        start()
        for i in range(200):
            look_up_unrelated(f"start{i}")
        for i in chosen(4000, 0.99, 6000):
            look_up_unrelated(f"program{i}")
        if number % 5 == 4:
            for i in range(3000):
                look_up_unrelated(f"scan{number}-{i}")


def scenes():
    sets = make_sets(150, 60, 0.25, 400)
    for _ in range(3):
        start()
        for scene in sets:
            for key in scene:
                look_up(key, 9.8, 1.1)


def visits():
    sets = make_sets(150, 60, 0.25, 400)
    rng.shuffle(sets)
    for count, scene in enumerate(chosen(150, 0.9, 600)):
        if count % 20 == 0:
            start()
        for key in sets[scene]:
            look_up(key, 9.8, 1.1)


def games():
    sets = make_sets(80, 500, 0.02, 200)
    for game in chosen(80, 1.0, 500):
        start()
        for key in sets[game]:
            look_up(key)


def levels():
    for update in range(3):
        level = 0
        for _ in range(80):
            start()
            for i in range(150):
                look_up(f"{update}-start{i}")
            for _ in range(rng.randrange(1, 4)):
                for _ in range(rng.randrange(1, 4)):
                    for i in range(120):
                        if rng.random() < 0.9:
                            look_up(f"{update}-level{level % 30}-{i}")
                level += 1


def develop():
    versions = [0] * 3000
    for _ in range(150):
        start()
        for i, version in enumerate(versions):
            if i < 200 or rng.random() < 0.25:
                look_up(f"shader{i}.{version}")
        for i in chosen(3000, 0.6, 120):
            versions[i] += 1


def desktop():
    applications = make_sets(40, 40, 0.1, 100)
    once = 0
    for _ in range(120):
        for application in chosen(40, 1.1, 12):
            start()
            for key in applications[application]:
                look_up("desktop" + key, 9.0, 1.0)
            for _ in range(rng.randrange(20, 200) if application < 3 else 0):
                once += 1
                site = f"site{int(rng.paretovariate(0.7) * 10) % 20000}"
                look_up(site if rng.random() < 0.5 else f"once{once}", 9.3, 1.0)


def loop():
    for _ in range(6):
        start()
        for i in range(6000):
            look_up(f"program{i}")


def shift():
    for phase in range(8):
        start()
        for i in chosen(2500, 0.8, 25000):
            look_up(f"phase{phase}-{i}", 9.0, 0.9)


def emulator():
    found = [60] * 40
    area = 0
    for _ in range(60):
        start()
        for i in range(100):
            look_up(f"menu{i}", 8.6, 0.8)
        for _ in range(rng.randrange(5, 40)):
            area = max(0, min(39, area + rng.choice((-1, -1, 0, 1, 1, 1)))) if rng.random() < 0.95 else rng.randrange(40)
            for i in range(found[area]):
                if rng.random() < 0.6:
                    look_up(f"area{area}-{i}", 8.6, 0.8)
            found[area] += rng.randrange(0, 6)


def tabs():
    pages = make_sets(600, 30, 0.3, 300)
    kept = chosen(600, 0.3, 12)
    for _ in range(90):
        start()
        for _ in range(rng.randrange(5, 25)):
            page = rng.choice(kept) if rng.random() < 0.6 else rng.randrange(600)
            for key in pages[page]:
                look_up(key, 9.5, 1.0)
        kept[rng.randrange(12)] = rng.randrange(600)


shapes = {f.__name__: f for f in
          (starts, scenes, visits, games, levels, develop, desktop, loop, shift, emulator, tabs)}
if arguments.shape not in shapes:
    parser.error(f"{arguments.shape} is none of {' '.join(shapes)}")
shapes[arguments.shape]()
