#!/usr/bin/env python3
"""Draws three disjoint samples of unlabelled accelerator manifests from both corpora, deterministically.

    draw.py            writes sample-1.txt, sample-2.txt and sample-3.txt beside this file: corpus<TAB>repo<TAB>path

Pool: files of dev/ that are in INDEX.jsonl and not in LABELS.jsonl, whose text outside comments names an accelerator
(a device resource, a GPU/TPU/Neuron selector, a GPU instance type, or a plain gpu/tpu key), and of at most 700 lines (what a person can read).
The third sample has 50 + 50 files of at most 400 lines, at most 7 per repository, from what is left.
Cap: at most 4 files per folder group and draw. The group is the file's folder; blocks of one Markdown file are one group; where the
folder's own name is an accelerator or a model variant (a100-40gb, l4-gemma-..., v5e) its parent is the group.
"""
import json, os, random, re
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '../../../shared')
PER_CORPUS, CAP = 60, 4
RX = re.compile(
    r'nvidia\.com/|amd\.com/gpu|google\.com/tpu|aws\.amazon\.com/neuron|habana\.ai/|intel\.com/(gpu|i915|xe)|gpu\.intel\.com|'
    r'gke-accelerator|gke-tpu|volcano\.sh/vgpu|gpu-fraction|gpu-memory|GPU|\bgpus?\b|\btpu\b|requestGPU|'
    r'Standard_N[CDV]\d|\b(p[2-6]\w*|g[3-6]\w*|trn\d\w*|inf\d)\.\d*x?(large|metal)|\bnvidia-[a-z]+\d+')
VARIANT = re.compile(r'(^|[-_])(a100|a10g|h100|h200|b200|l4|l40s|t4|v100|v[456][ep]|rtx-pro-6000|tpu7x|gpu|tpu|nvidia|amd)([-_]|$)', re.I)


def read(*p):
    with open(os.path.join(*p), encoding='utf-8', errors='replace') as fh:
        return fh.read()


def group(repo, path):
    folder = re.sub(r'\.md__L\d+.*$', '.md', path) if '.md__L' in path else os.path.dirname(path)
    if '.md__L' not in path and VARIANT.search(os.path.basename(folder)):
        folder = os.path.dirname(folder)
    return repo, folder


def pool(corpus):
    base = os.path.join(ROOT, corpus)
    done = {(r['repo'], r['path']) for r in map(json.loads, read(base, 'LABELS.jsonl').splitlines())}
    out = []
    for r in map(json.loads, read(base, 'INDEX.jsonl').splitlines()):
        key = r['repo'], r['path']
        if key in done:
            continue
        text = read(base, 'dev', r['repo'].replace('/', '+'), r['path'])
        bare = re.sub(r'(?m)(^|\s)#.*$', '', text)
        if text.count('\n') <= 700 and RX.search(bare):
            out.append(key)
    return sorted(out)


def take(keys, rng, n, per_repository=None):
    keys = list(keys)
    rng.shuffle(keys)
    seen, got = {}, []
    for k in keys:
        g, r = group(*k), k[0]
        if seen.get(g, 0) < CAP and (per_repository is None or seen.get(r, 0) < per_repository):
            seen[g] = seen.get(g, 0) + 1
            seen[r] = seen.get(r, 0) + 1
            got.append(k)
        if len(got) == n:
            break
    return got


def main():
    used = set()
    for number, seed in ((1, 20261122), (2, 20261123)):
        rng = random.Random(seed)
        rows = []
        for corpus in ('corpus', 'corpus2'):
            p = [k for k in pool(corpus) if (corpus, *k) not in used]
            rows += [(corpus, *k) for k in take(p, rng, PER_CORPUS)]
        used |= set(rows)
        with open(os.path.join(HERE, f'sample-{number}.txt'), 'w') as fh:
            fh.writelines('\t'.join(r) + '\n' for r in rows)
        print(number, len(rows))
    rng, rows = random.Random(20261124), []
    for corpus in ('corpus', 'corpus2'):
        p = [k for k in pool(corpus) if (corpus, *k) not in used and lines(corpus, *k) <= 400]
        rows += [(corpus, *k) for k in take(p, rng, 50, 7)]
    with open(os.path.join(HERE, 'sample-3.txt'), 'w') as fh:
        fh.writelines('\t'.join(r) + '\n' for r in rows)
    print(3, len(rows))


def lines(corpus, repo, path):
    return read(ROOT, corpus, 'dev', repo.replace('/', '+'), path).count('\n')


if __name__ == '__main__':
    print({c: len(pool(c)) for c in ('corpus', 'corpus2')})
    main()
