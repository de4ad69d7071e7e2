// Command lines and scripts.
import { many, pod, containers, inContainer, script } from './parts.mjs';

/** @type {readonly import('./parts.mjs').Growing[]} */
export const commands = [
  { name: 'flags in one command', most: 40_000, make: inContainer('args', (i) => `            - --flag-${i}=${i}\n`) },
  {
    name: 'flags, apart from their values',
    most: 26_000,
    make: inContainer('args', (i) => `            - --flag-${i}\n            - v${i}\n`),
  },
  {
    name: 'flags in one line',
    most: 70_000,
    make: (n) =>
      `${pod}${containers}          command: [sh, -c, "python train.py ${many(n, (i) => ` --f${i}=${i}`)}"]\n`,
  },
  {
    name: 'flags in one script',
    most: 11_000,
    make: script((i) => `python train.py --nproc-per-node=2 --flag-${i} value-${i} \\\n`),
  },
  {
    name: 'flags that save',
    most: 35_000,
    make: (n) =>
      `${pod.replace('apps/v1', 'batch/v1').replace('Deployment', 'Job')}${containers}          command: [sh, -c, "python train.py${many(n, (i) => ` --save_steps=${i}`)}"]\n`,
  },
  { name: 'args', most: 60_000, make: inContainer('args', (i) => `            - a${i}\n`) },
  {
    name: 'commands of a script',
    most: 20_000,
    make: script((i) => `python train.py --save_steps ${i} --output_dir /out/${i}\n`),
  },
  { name: 'words of a script', most: 150_000, make: script((i) => `w${i}${i % 20 ? ' ' : '\n'}`) },
  { name: 'loops of a script', most: 20_000, make: script(() => 'while true; do sleep 1; done\n') },
  { name: 'ifs of a script, open', most: 60_000, make: script(() => 'if true; then\n') },
  { name: 'heredocs of a script', most: 30_000, make: script((i) => `cat <<E${i}\n`) },
  {
    name: 'heredocs in one line',
    most: 100_000,
    make: (n) =>
      `${pod}${containers}          command: [sh, -c, "${many(n, (i) => `a <<b${i} `).slice(0, 900_000)}"]\n`,
  },
  { name: 'quotes of a script', most: 400_000, make: script((i) => `"'${i % 40 ? '' : '\n'}`) },
  {
    name: 'substitutions of a script, open',
    most: 300_000,
    make: (n) => `${pod}${containers}          command: [sh, -c, '${'$('.repeat(n)}']\n`,
  },
  {
    name: 'braces of a script, open',
    most: 300_000,
    make: (n) => `${pod}${containers}          command: [sh, -c, "${'${a'.repeat(n)}"]\n`,
  },
  {
    name: 'backquotes of a script',
    most: 300_000,
    make: (n) => `${pod}${containers}          command: [sh, -c, "${'`a'.repeat(n)}"]\n`,
  },
  {
    name: 'trainings in one script',
    most: 14_000,
    make: script((i) => `torchrun --nproc_per_node=${i % 9} --nnodes 2 train.py &&\n`),
  },
  { name: 'exports of a script', most: 25_000, make: script((i) => `export WORLD_SIZE=${i}\n`) },
  { name: 'assignments of a script', most: 50_000, make: script((i) => `A${i}=$A${i - 1}\n`) },
  {
    name: 'a script in a line',
    most: 1_000_000,
    make: (n) => `${pod}${containers}          command: [sh, -c, "${'a'.repeat(n)}"]\n`,
  },
  {
    name: 'command words',
    most: 80_000,
    make: (n) => `${pod}${containers}          command: ["python", ${many(n, (i) => `"a${i}",`)}]\n`,
  },
  {
    name: 'a command as one string',
    most: 900_000,
    make: (n) => `${pod}${containers}          command: ["python ${'a '.repeat(n / 2)}"]\n`,
  },
  { name: 'backslash lines in a script', most: 60_000, make: script(() => 'a \\\n') },
  {
    name: 'equals of a word',
    most: 900_000,
    make: (n) => `${pod}${containers}          args: ["--a${'='.repeat(n)}"]\n`,
  },
  { name: 'dashes of a word', most: 900_000, make: (n) => `${pod}${containers}          args: ["${'-'.repeat(n)}"]\n` },
  {
    name: 'a long path',
    most: 900_000,
    make: (n) => `${pod}${containers}          args: ["--output_dir=${'/'.repeat(n)}a"]\n`,
  },
  {
    name: 'mounts of long slashes',
    most: 900_000,
    make: (n) => `${pod}${containers}          volumeMounts: [{ name: a, mountPath: "/${'/'.repeat(n)}a" }]\n`,
  },
];
