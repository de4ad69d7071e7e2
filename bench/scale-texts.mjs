// @ts-check
// Texts that grow in one respect, as an attacker or a broken generator could produce them. Each is the same in every run.

/** What an editor may ask of a text at once; longer texts have no budget. */
export const LONGEST = 1_000_000;

/**
 * @typedef {object} Growing
 * @property {string} name what there are many of
 * @property {number} most the largest count, for about a megabyte of text
 * @property {(n: number) => string} make the text with so many of them
 */

/**
 * @typedef {Growing & { ask: string }} Case
 * `ask` is what is measured: `open`, a request at the end of the text (`hover`), or `select`, `fixAll`: code actions over all of it
 */

/** @param {number} n @param {(index: number) => string} each */
const many = (n, each) => Array.from({ length: n }, (_, index) => each(index)).join('');

const head = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
`;
const pod = `${head}spec:
  replicas: 2
  template:
    spec:
`;
const containers = `      containers:
        - name: server
          image: example.com/server:1.0
          resources: { limits: { nvidia.com/gpu: 1 } }
`;
const config = (/** @type {string} */ body) => `apiVersion: v1
kind: ConfigMap
metadata: { name: gpu-scripts }
data:
${body}`;

/** A list in the pod of a Deployment that asks for a GPU. @param {string} key @param {(index: number) => string} each */
const inPod = (key, each) => (/** @type {number} */ n) => `${pod}${containers}      ${key}:\n${many(n, each)}`;
/** A list in its container. @param {string} key @param {(index: number) => string} each */
const inContainer = (key, each) => (/** @type {number} */ n) =>
  `${pod}${containers}          ${key}:\n${many(n, each)}`;
/** One argument of a container that holds a script. @param {(index: number) => string} each */
const script = (each) => (/** @type {number} */ n) =>
  `${pod}${containers}          command: [sh, -c]\n          args:\n            - |\n${many(n, (index) => each(index).replace(/^(?=.)/gm, '              '))}`;
const container = (/** @type {number} */ index) => `        - name: c${index}
          image: example.com/server:1.0
          resources: { limits: { nvidia.com/gpu: 1 } }
`;

/** @type {readonly Growing[]} */
const named = [
  {
    name: 'suppressions, used',
    most: 10_000,
    make: inContainer(
      'env',
      (i) =>
        `            # gpulint-disable-next-line nproc-per-node -- ${i}\n            - { name: A${i}, value: "1" }\n`,
    ),
  },
  {
    name: 'suppressions',
    most: 21_000,
    make: (n) => `${pod}${containers}${many(n, (i) => `# gpulint-disable-line shm-missing -- no ${i}\n`)}`,
  },
  {
    name: 'suppressions of the next line',
    most: 16_000,
    make: (n) => `${pod}${containers}${many(n, () => `# gpulint-disable-next-line image-not-pinned\n`)}`,
  },
  {
    name: 'suppressions with findings',
    most: 5000,
    make: (n) =>
      many(
        n,
        (i) =>
          `${i ? '---\n' : ''}apiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec:\n  containers:\n    - name: c\n      image: a:latest # gpulint-disable-line\n      resources: { requests: { nvidia.com/gpu: 1 } }\n`,
      ),
  },
  {
    name: 'findings and suppressions in one pod',
    most: 6000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        - name: c${i}\n          image: a:latest # gpulint-disable-line image-not-pinned\n          resources: { requests: { nvidia.com/gpu: 1 } }\n`)}`,
  },
  {
    name: 'tolerations',
    most: 16_000,
    make: inPod('tolerations', (i) => `        - { key: k${i}, operator: Exists, effect: NoSchedule }\n`),
  },
  {
    name: 'GPU tolerations',
    most: 14_000,
    make: inPod(
      'tolerations',
      (i) => `        - { key: nvidia.com/gpu, operator: Equal, value: v${i}, effect: NoSchedule }\n`,
    ),
  },
  {
    name: 'tolerations with a mistake',
    most: 14_000,
    make: inPod(
      'tolerations',
      (i) => `        - { key: nvidia.com/gpu, operator: Exists, value: v${i}, effect: NoSchedule }\n`,
    ),
  },
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
  { name: 'dashes', most: 450_000, make: (n) => `${pod}${containers}          args:\n            ${'- '.repeat(n)}` },
  { name: 'dashes alone', most: 450_000, make: (n) => `# gpu\n${'- '.repeat(n)}` },
  {
    name: 'lines of a dash',
    most: 110_000,
    make: (n) => `${pod}${containers}          args:\n${'          - \n'.repeat(n)}`.slice(0, 1_000_000),
  },
  { name: 'YAML errors', most: 110_000, make: (n) => `${pod}${containers}${'? [}\n'.repeat(n)}` },
  { name: 'YAML errors, tag', most: 110_000, make: (n) => `${pod}${containers}${'a: b: c\n'.repeat(n)}` },
  { name: 'YAML errors, documents', most: 60_000, make: (n) => '--- # gpu\na: ]\n'.repeat(n) },
  { name: 'YAML errors, brackets', most: 400_000, make: (n) => `${pod}${containers}${'] '.repeat(n)}` },
  { name: 'YAML errors, percent', most: 110_000, make: (n) => `${'%gpu: @\n'.repeat(n)}` },
  { name: 'duplicate keys', most: 100_000, make: (n) => `${pod}${containers}${'          a: 1\n'.repeat(n / 2)}` },
  {
    name: 'missing anchors',
    most: 60_000,
    make: (n) => `${pod}${containers}          args:\n${many(n, () => `          - *a\n`)}`,
  },
  {
    name: 'aliases',
    most: 9000,
    make: (n) =>
      `${pod}      containers:\n        - &c\n          name: server\n          image: example.com/server\n          resources: { requests: { nvidia.com/gpu: 1 } }\n${'        - *c\n'.repeat(n)}`,
  },
  {
    name: 'anchors and aliases',
    most: 9000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        - name: c${i}\n          image: &i${i} example.com/server:latest\n          env: [{ name: A, value: *i${i} }]\n          resources: { requests: { nvidia.com/gpu: 1 } }\n`).slice(0, 1_000_000)}`,
  },
  {
    name: 'merge keys',
    most: 9000,
    make: (n) =>
      `x: &x { image: "example.com/server:latest" }\n${pod}      containers:\n${many(n, (i) => `        - <<: *x\n          name: c${i}\n          resources: { requests: { nvidia.com/gpu: 1 } }\n`)}`,
  },
  {
    name: 'merge keys of large maps',
    most: 2000,
    make: (n) =>
      `x: &x\n${many(n, (i) => `  k${i}: 1\n`)}${pod}${containers}${many(Math.min(n, 90_000 / n), (i) => `x${i}:\n  <<: *x\n`)}`,
  },
];

/** @type {readonly Growing[]} */
const relatives = [
  {
    name: 'suppressions of unknown rules',
    most: 16_000,
    make: (n) => `${pod}${containers}${many(n, (i) => `# gpulint-disable-line gpu-limits-requird-${i} -- no\n`)}`,
  },
  {
    name: 'flags that save',
    most: 35_000,
    make: (n) =>
      `${pod.replace('apps/v1', 'batch/v1').replace('Deployment', 'Job')}${containers}          command: [sh, -c, "python train.py${many(n, (i) => ` --save_steps=${i}`)}"]\n`,
  },
  { name: 'containers', most: 8000, make: (n) => `${pod}      containers:\n${many(n, container)}` },
  {
    name: 'init containers',
    most: 8000,
    make: (n) => `${pod}${containers}      initContainers:\n${many(n, container)}`,
  },
  {
    name: 'containers that mount',
    most: 4000,
    make: (n) =>
      `${pod}      volumes:\n${many(n, (i) => `        - { name: v${i}, emptyDir: {} }\n`)}      containers:\n${many(n, (i) => `${container(i)}          volumeMounts: [{ name: v${i}, mountPath: /m${i} }]\n`)}`,
  },
  {
    name: 'containers that checkpoint',
    most: 3000,
    make: (n) =>
      `${pod.replace('Deployment', 'Job').replace('apps/v1', 'batch/v1')}      volumes:\n${many(n, (i) => `        - { name: v${i}, emptyDir: {} }\n`)}      containers:\n${many(n, (i) => `${container(i)}          command: [python, train.py, --output_dir=/m${i}/x, --save_steps=10]\n          volumeMounts: [{ name: v${i}, mountPath: /m${i} }]\n`)}`,
  },
  {
    name: 'containers of one name',
    most: 8000,
    make: (n) => `${pod}      containers:\n${many(n, () => container(0))}`,
  },
  {
    name: 'containers that serve',
    most: 5000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `${container(i)}          args: [vllm, serve, meta-llama/Llama-3.1-8B, --tensor-parallel-size, "2"]\n`)}`,
  },
  {
    name: 'containers that torchrun',
    most: 5000,
    make: (n) =>
      `${pod.replace('Deployment', 'Job').replace('apps/v1', 'batch/v1')}      containers:\n${many(n, (i) => `${container(i)}          command: [torchrun, --nproc_per_node=4, --nnodes=2, train.py]\n`)}`,
  },
  {
    name: 'environment variables',
    most: 25_000,
    make: inContainer('env', (i) => `            - { name: V${i}, value: "${i}" }\n`),
  },
  {
    name: 'environment variables of one name',
    most: 20_000,
    make: inContainer('env', () => `            - { name: NVIDIA_VISIBLE_DEVICES, value: all }\n`),
  },
  {
    name: 'environment of NCCL',
    most: 20_000,
    make: inContainer('env', () => `            - { name: NCCL_P2P_DISABLE, value: "1" }\n`),
  },
  {
    name: 'environment, world size',
    most: 20_000,
    make: inContainer('env', (i) => `            - { name: ${i % 2 ? 'WORLD_SIZE' : 'NNODES'}, value: "$(V${i})" }\n`),
  },
  { name: 'volumes', most: 20_000, make: inPod('volumes', (i) => `        - { name: v${i}, emptyDir: {} }\n`) },
  {
    name: 'volumes and mounts',
    most: 9000,
    make: (n) =>
      `${pod}${containers}          volumeMounts:\n${many(n, (i) => `            - { name: v${i}, mountPath: /m${i} }\n`)}      volumes:\n${many(n, (i) => `        - { name: v${i}, configMap: { name: m${i} } }\n`)}`,
  },
  {
    name: 'mounts and paths',
    most: 8000,
    make: (n) =>
      `${pod}${containers}          args:\n${many(n, (i) => `            - /m${i}/run.sh\n`)}          volumeMounts:\n${many(n, (i) => `            - { name: v${i}, mountPath: /m${i} }\n`)}      volumes:\n${many(n, (i) => `        - { name: v${i}, configMap: { name: m } }\n`)}`,
  },
  {
    name: 'labels',
    most: 30_000,
    make: (n) =>
      head.replace('metadata:\n', `metadata:\n  labels:\n${many(n, (i) => `    gpu${i}.example.com/a: "${i}"\n`)}`) +
      pod.slice(head.length) +
      containers,
  },
  {
    name: 'pod annotations',
    most: 25_000,
    make: (n) =>
      `${head}spec:\n  template:\n    metadata:\n      annotations:\n${many(n, (i) => `        gpu${i}.example.com/a: "${i}"\n`)}    spec:\n${containers}`,
  },
  {
    name: 'disabling annotations',
    most: 20_000,
    make: (n) =>
      `${head}  annotations:\n${many(n, () => `    gpulint.dev/disable: nproc-per-node\n`)}${pod.slice(head.length)}${containers}`,
  },
  {
    name: 'ids in one annotation',
    most: 100_000,
    make: (n) =>
      `${head}  annotations:\n    gpulint.dev/disable: "${many(n, (i) => `rule-${i % 100},`)}"\n${pod.slice(head.length)}${containers}`,
  },
  {
    name: 'ids in one comment',
    most: 100_000,
    make: (n) => `${pod}${containers}# gpulint-disable ${many(n, (i) => `x${i % 1000}, `)}\n`,
  },
  {
    name: 'autoscaling annotations',
    most: 15_000,
    make: (n) =>
      `apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: { name: s }\nspec:\n  template:\n    metadata:\n      annotations:\n${many(n, () => `        autoscaling.knative.dev/minScale: "1"\n`)}    spec:\n${containers}`,
  },
  {
    name: 'node selectors',
    most: 25_000,
    make: inPod('nodeSelector', (i) => `        gpu${i}.example.com/pool: "p${i}"\n`),
  },
  {
    name: 'node selectors of one GPU',
    most: 15_000,
    make: inPod('nodeSelector', () => `        cloud.google.com/gke-accelerator: nvidia-l4\n`),
  },
  {
    name: 'affinity terms',
    most: 8000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n${many(n, (i) => `              - matchExpressions: [{ key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4, x${i}] }]\n`)}`,
  },
  {
    name: 'affinity expressions',
    most: 11_000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n              - matchExpressions:\n${many(n, (i) => `                  - { key: karpenter.sh/capacity-type, operator: In, values: [spot, x${i}] }\n`)}`,
  },
  {
    name: 'affinity values',
    most: 60_000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n              - matchExpressions:\n                  - key: node.kubernetes.io/instance-type\n                    operator: In\n                    values:\n${many(n, (i) => `                      - g5.${i}\n`)}`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'resources',
    most: 25_000,
    make: (n) =>
      `${pod}${containers.replace('{ limits: { nvidia.com/gpu: 1 } }', `\n            limits:\n${many(n, (i) => `              example.com/gpu-${i}: 1\n`)}`)}`,
  },
  {
    name: 'MIG resources',
    most: 20_000,
    make: (n) =>
      `${pod}${containers.replace('{ limits: { nvidia.com/gpu: 1 } }', `\n            limits:\n${many(n, (i) => `              nvidia.com/mig-${i}g.5gb: 1\n`)}`)}`,
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
  { name: 'a line', most: 1_000_000, make: (n) => `# gpu\na: ${'x'.repeat(n)}` },
  { name: 'a line of spaces', most: 1_000_000, make: (n) => `# gpu\na: x${' '.repeat(n)}y` },
  { name: 'a line of spaces behind', most: 1_000_000, make: (n) => `# gpu\na: x${' '.repeat(n)}` },
  { name: 'spaces in front', most: 1_000_000, make: (n) => `# gpu\n${' '.repeat(n)}a: 1` },
  { name: 'lines of spaces', most: 1_000_000, make: (n) => `# gpu\na: 1\n${`${' '.repeat(1000)}\n`.repeat(n / 1000)}` },
  { name: 'a line of tabs', most: 1_000_000, make: (n) => `# gpu\n${'\t'.repeat(n)}a: 1` },
  { name: 'lines with tabs', most: 120_000, make: (n) => `# gpu\na:\n${'\tb: 1\n'.repeat(n)}` },
  { name: 'empty lines', most: 1_000_000, make: (n) => `# gpu\na: 1\n${'\n'.repeat(n)}b: 1\n` },
  { name: 'carriage returns', most: 1_000_000, make: (n) => `# gpu\r${'\r'.repeat(n)}a: 1` },
  { name: 'lines of carriage returns', most: 100_000, make: (n) => `# gpu\r${many(n, (i) => `k${i}: 1\r`)}` },
  {
    name: 'a manifest with carriage returns',
    most: 8000,
    make: (n) => `${pod}      containers:\n${many(n, container)}`.replaceAll('\n', '\r'),
  },
  {
    name: 'a manifest with CRLF',
    most: 8000,
    make: (n) => `${pod}      containers:\n${many(n, container)}`.replaceAll('\n', '\r\n'),
  },
  { name: 'one long word in a comment', most: 1_000_000, make: (n) => `${pod}${containers}# ${'a'.repeat(n)}` },
  { name: 'hashes', most: 1_000_000, make: (n) => `${pod}${containers}${'#'.repeat(n)}` },
  { name: 'hashes apart', most: 500_000, make: (n) => `${pod}${containers}${'# '.repeat(n)}` },
  { name: 'comments', most: 100_000, make: (n) => `${pod}${containers}${many(n, () => '# comment\n')}` },
  {
    name: 'comments between containers',
    most: 6000,
    make: (n) => `${pod}      containers:\n${many(n, (i) => `        # one\n${container(i)}          # two\n`)}`,
  },
  {
    name: 'comments before an item',
    most: 60_000,
    make: (n) => `${pod}      containers:\n${many(n, () => `        # one\n`)}${container(0)}`,
  },
  { name: 'quotes', most: 1_000_000, make: (n) => `# gpu\na: ${'"'.repeat(n)}` },
  { name: 'single quotes', most: 1_000_000, make: (n) => `# gpu\na: ${"'".repeat(n)}` },
  { name: 'unclosed quotes', most: 150_000, make: (n) => `# gpu\n${'a: "\n'.repeat(n)}` },
  { name: 'unclosed single quotes', most: 150_000, make: (n) => `# gpu\n${"a: '\n".repeat(n)}x: '` },
  { name: 'unclosed quotes in keys', most: 150_000, make: (n) => `# gpu\n${'"a: 1\n'.repeat(n)}"` },
  { name: 'backslashes', most: 1_000_000, make: (n) => `# gpu\na: "${'\\'.repeat(n)}` },
  { name: 'escapes', most: 200_000, make: (n) => `# gpu\na: "${'\\x41'.repeat(n)}"` },
  { name: 'bad escapes', most: 300_000, make: (n) => `# gpu\na: "${'\\q'.repeat(n)}"` },
  { name: 'open brackets', most: 1_000_000, make: (n) => `# gpu\na: ${'['.repeat(n)}` },
  { name: 'open braces', most: 1_000_000, make: (n) => `# gpu\na: ${'{'.repeat(n)}` },
  { name: 'open braces, apart', most: 400_000, make: (n) => `# gpu\na: ${'{ '.repeat(n)}` },
  { name: 'unclosed brackets', most: 150_000, make: (n) => `# gpu\n${'a: [\n'.repeat(n)}` },
  { name: 'closed brackets', most: 500_000, make: (n) => `# gpu\na: [${'[],'.repeat(n / 2)}]` },
  { name: 'flow mapping', most: 100_000, make: (n) => `# gpu\na: {${many(n, (i) => `k${i}: 1,`)}}` },
  { name: 'flow mapping without values', most: 150_000, make: (n) => `# gpu\na: {${many(n, (i) => `k${i},`)}}` },
  { name: 'flow sequence', most: 150_000, make: (n) => `# gpu\na: [${many(n, (i) => `k${i},`)}]` },
  { name: 'flow pairs', most: 100_000, make: (n) => `# gpu\na: [${many(n, (i) => `k${i}: 1,`)}]` },
  { name: 'flow commas', most: 900_000, make: (n) => `# gpu\na: [${','.repeat(n)}]` },
  { name: 'flow colons', most: 900_000, make: (n) => `# gpu\na: {${':'.repeat(n)}}` },
  {
    name: 'flow in a pod',
    most: 9000,
    make: (n) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [${many(n, (i) => `{name: c${i}, image: a, resources: {requests: {nvidia.com/gpu: 1}}},`)}]}}`,
  },
  {
    name: 'JSON',
    most: 9000,
    make: (n) =>
      `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [${many(n, (i) => `${i ? ',' : ''}{"name": "c${i}", "image": "a", "resources": {"requests": {"nvidia.com/gpu": 1}}}`)}]}}`,
  },
  { name: 'nesting', most: 190, make: (n) => `# gpu\n${many(n, (i) => `${' '.repeat(i)}a:\n`)}` },
  {
    name: 'nesting over the limit',
    most: 1400,
    make: (n) => `# gpu\n${many(n, (i) => `${' '.repeat(i)}a:\n`)}`.slice(0, 1_000_000),
  },
  {
    name: 'nested mappings at the limit',
    most: 3000,
    make: (n) =>
      `# gpu\n${many(n / 30, (j) => `k${j}:\n${many(190, (i) => `${' '.repeat(i + 1)}a:\n`)}`)}`.slice(0, 1_000_000),
  },
  {
    name: 'nested flow',
    most: 3000,
    make: (n) => `# gpu\nx:\n${many(n, () => `  - ${'['.repeat(150)}${']'.repeat(150)}\n`)}`,
  },
  { name: 'keys', most: 100_000, make: (n) => `# gpu\n${many(n, (i) => `k${i}: 1\n`)}` },
  { name: 'keys of a Deployment', most: 80_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: 1\n`)}` },
  { name: 'question marks', most: 300_000, make: (n) => `# gpu\n${'? '.repeat(n)}` },
  { name: 'question lines', most: 200_000, make: (n) => `# gpu\n${'? a\n'.repeat(n)}` },
  { name: 'colons', most: 400_000, make: (n) => `# gpu\n${': '.repeat(n)}` },
  { name: 'ampersands', most: 300_000, make: (n) => `# gpu\na: ${'&a '.repeat(n)}` },
  { name: 'stars', most: 300_000, make: (n) => `# gpu\na: ${'*a '.repeat(n)}` },
  { name: 'tags', most: 300_000, make: (n) => `# gpu\na: ${'!a '.repeat(n)}` },
  { name: 'tagged keys', most: 100_000, make: (n) => `# gpu\n${many(n, (i) => `!t k${i}: 1\n`)}` },
  { name: 'anchored keys', most: 60_000, make: (n) => `# gpu\n${many(n, (i) => `&a${i} k${i}: 1\n`)}` },
  {
    name: 'anchored pods',
    most: 5000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => container(i).replace('- name', `- &c${i}\n          name`).replace('limits', 'requests'))}x: [${many(n, (i) => `*c${i}, `)}]\n`,
  },
  {
    name: 'anchors before a comment',
    most: 100_000,
    make: (n) => `${pod}${containers}x: &a\n${'# a\n'.repeat(n)}  b: 1\ny: *a\n`,
  },
  { name: 'percent lines', most: 100_000, make: (n) => `${'%YAML gpu\n'.repeat(n)}---\na: 1\n` },
  {
    name: 'documents',
    most: 8000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`,
      ).slice(0, 1_000_000),
  },
  { name: 'small documents', most: 100_000, make: (n) => many(n, () => '---\ngpu\n') },
  { name: 'markers', most: 250_000, make: (n) => `# gpu\n${'---\n'.repeat(n)}` },
  { name: 'ends of documents', most: 250_000, make: (n) => `# gpu\n${'...\n'.repeat(n)}` },
  { name: 'markers and comments', most: 100_000, make: (n) => `# gpu\n${'---\n# a\n'.repeat(n)}` },
  { name: 'markers behind comments', most: 100_000, make: (n) => `# gpu\n${'# a\n'.repeat(n)}---\na: 1\n` },
  {
    name: 'markers in template comments',
    most: 50_000,
    make: (n) => `# gpu\n${'{{/* a\n---\n*/}}\n'.repeat(n)}a: 1\n`,
  },
  {
    name: 'markers and template comments',
    most: 40_000,
    make: (n) => `# gpu\n${'{{/* a */}}\n---\na: 1\n'.repeat(n)}`,
  },
  {
    name: 'documents with claims',
    most: 4500,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { name: c${i} }\nspec: { spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } } }\n`,
      ),
  },
  {
    name: 'pods with claims',
    most: 3000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: c${i} }\nspec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } }\n---\napiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec:\n  resourceClaims: [{ name: a, resourceClaimName: c${i} }]\n  containers: [{ name: a, image: b, resources: { claims: [{ name: a }] } }]\n`,
      ).slice(0, 1_000_000),
  },
  {
    name: 'claims of a pod',
    most: 12_000,
    make: inPod('resourceClaims', (i) => `        - { name: c${i}, resourceClaimTemplateName: t }\n`),
  },
  {
    name: 'claims of a pod and its container',
    most: 9000,
    make: (n) =>
      `${pod}      resourceClaims:\n${many(n, (i) => `        - { name: c${i}, resourceClaimTemplateName: t }\n`)}      containers:\n        - name: a\n          image: b\n          resources:\n            claims:\n${many(n, (i) => `              - name: c${i}\n`)}---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { name: t }\nspec: { spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } } }\n`,
  },
  {
    name: 'items of a List',
    most: 6000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nitems:\n${many(n, (i) => `  - apiVersion: v1\n    kind: Pod\n    metadata: { name: p${i} }\n    spec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  {
    name: 'items of a List with anchors',
    most: 6000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nx: &x a\ny: *x\nitems:\n${many(n, (i) => `  - apiVersion: v1\n    kind: Pod\n    metadata: { name: p${i} }\n    spec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  {
    name: 'small items of a List',
    most: 60_000,
    make: (n) => `# gpu\napiVersion: v1\nkind: List\nitems:\n${'  - a: 1\n'.repeat(n)}`,
  },
  {
    name: 'nested Lists',
    most: 3000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nitems:\n${many(n, () => `- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    spec: { containers: [{ name: a, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  { name: 'a block scalar', most: 60_000, make: (n) => config(`  run.sh: |\n${many(n, (i) => `    echo ${i}\n`)}`) },
  { name: 'a folded scalar', most: 60_000, make: (n) => config(`  run.sh: >\n${many(n, (i) => `    echo ${i}\n`)}`) },
  {
    name: 'a plain scalar of lines',
    most: 60_000,
    make: (n) => config(`  run.sh:\n${many(n, (i) => `    echo ${i}\n`)}`),
  },
  {
    name: 'a quoted scalar of lines',
    most: 60_000,
    make: (n) => config(`  run.sh: "\n${many(n, (i) => `    echo ${i}\n`)}    "`),
  },
  { name: 'block scalars', most: 60_000, make: (n) => config(many(n, (i) => `  k${i}: |\n    a\n`)) },
  {
    name: 'block scalars with empty lines',
    most: 100_000,
    make: (n) => config(`  k: |\n    a\n${'\n'.repeat(n)}    b\n`),
  },
  {
    name: 'embedded config',
    most: 10_000,
    make: (n) =>
      config(
        `  config.yaml: |\n    version: v1\n    sharing:\n      timeSlicing:\n        resources:\n${many(n, () => `          - name: nvidia.com/gpu\n            replicas: 4\n`)}`,
      ),
  },
  {
    name: 'embedded configs',
    most: 5000,
    make: (n) =>
      config(
        many(
          n,
          (i) =>
            `  config${i}.yaml: |\n    version: v1\n    sharing:\n      timeSlicing:\n        resources:\n          - name: nvidia.com/gpu\n            replicas: 4\n`,
        ),
      ),
  },
  {
    name: 'embedded MIG config',
    most: 9000,
    make: (n) =>
      config(
        `  config.yaml: |\n    version: v1\n    mig-configs:\n${many(n, (i) => `      all-${i}:\n        - devices: all\n          mig-enabled: true\n          mig-devices: { 1g.5gb: 7 }\n`)}`,
      ),
  },
  { name: 'actions', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: {{ .a }}\n`)}` },
  {
    name: 'actions on lines',
    most: 40_000,
    make: (n) => `${pod}${containers}${many(n, () => `{{- include "a" . }}\n`)}`,
  },
  { name: 'actions in a line', most: 150_000, make: (n) => `${pod}${containers}k: ${'{{a}}'.repeat(n)}\n` },
  {
    name: 'actions in a pod',
    most: 5000,
    make: (n) => `${pod}      containers:\n${many(n, (i) => container(i).replace('1.0', '{{ .Values.tag }}'))}`,
  },
  {
    name: 'actions with conditions',
    most: 4000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        {{- if .Values.c${i} }}\n${container(i).replace('limits', 'requests')}        {{- end }}\n`)}`,
  },
  { name: 'unclosed actions', most: 300_000, make: (n) => `${pod}${containers}k: ${'{{a'.repeat(n)}\n` },
  { name: 'unclosed actions on lines', most: 100_000, make: (n) => `${pod}${containers}${'k: {{ a\n'.repeat(n)}` },
  { name: 'unclosed comments', most: 100_000, make: (n) => `${pod}${containers}${'{{/* a\n'.repeat(n)}` },
  { name: 'unclosed Jinja', most: 100_000, make: (n) => `${pod}${containers}${'{% if a\n'.repeat(n)}` },
  { name: 'Jinja comments, unclosed', most: 100_000, make: (n) => `${pod}${containers}${'{# a\n'.repeat(n)}` },
  { name: 'Jinja blocks', most: 40_000, make: (n) => `${pod}${containers}${'{% if a %}\n{% endif %}\n'.repeat(n)}` },
  { name: 'ifs, open', most: 60_000, make: (n) => `${pod}${containers}${'{{ if a }}\n'.repeat(n)}k: 1\n` },
  { name: 'ends, alone', most: 60_000, make: (n) => `${pod}${containers}${'{{ end }}\n'.repeat(n)}k: 1\n` },
  {
    name: 'ranges',
    most: 20_000,
    make: (n) =>
      `${pod}${containers}          env:\n${'            {{ range .a }}\n            - name: A\n            {{ end }}\n'.repeat(n / 2)}`,
  },
  { name: 'quotes in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ ${'"a'.repeat(n)} }}\n` },
  { name: 'parentheses in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ ${'('.repeat(n)} }}\n` },
  { name: 'pipes in actions', most: 300_000, make: (n) => `${pod}${containers}k: {{ a${'|a'.repeat(n)} }}\n` },
  { name: 'variables', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: \${V}\n`)}` },
  { name: 'variables in flow', most: 60_000, make: (n) => `${pod}${containers}x: [${many(n, () => `\${V}, `)}]\n` },
  { name: 'unclosed variables', most: 200_000, make: (n) => `${pod}${containers}x: [${'${V '.repeat(n)}]\n` },
  { name: 'placeholders', most: 60_000, make: (n) => `${pod}${containers}${many(n, (i) => `k${i}: <your-value>\n`)}` },
  { name: 'open placeholders', most: 200_000, make: (n) => `${pod}${containers}k: ${'<a '.repeat(n)}\n` },
  { name: 'at placeholders', most: 200_000, make: (n) => `${pod}${containers}k: x${'@a_'.repeat(n)}\n` },
  { name: 'stand-in lines', most: 100_000, make: (n) => `${pod}${containers}${'<a>\n'.repeat(n)}` },
  { name: 'dots', most: 100_000, make: (n) => `${pod}${containers}${'...a\n'.repeat(n)}` },
  { name: 'surrogates', most: 400_000, make: (n) => `${pod}${containers}k: ${'😀'.repeat(n)}\n` },
  { name: 'lone surrogates', most: 900_000, make: (n) => `${pod}${containers}k: ${'\ud83d'.repeat(n)}\n` },
  { name: 'no-break spaces', most: 900_000, make: (n) => `${pod}${containers}${'\u00a0'.repeat(n)}k: 1\n` },
  { name: 'line separators', most: 900_000, make: (n) => `${pod}${containers}k: a${'\u2028'.repeat(n)}\n` },
  { name: 'byte order marks', most: 300_000, make: (n) => `${'\ufeff'.repeat(n)}${pod}${containers}` },
  {
    name: 'images',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: ${'a/'.repeat(n / 2)}\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of dots',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${'.'.repeat(n)}\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of dashes',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${'-'.repeat(n)}!\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of colons',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${':a'.repeat(n / 2)}!\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'a long name',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: ${'a-'.repeat(n / 2)}\n          image: a\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'a long quantity',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources: { limits: { nvidia.com/gpu: ${'9'.repeat(n)} } }\n`,
  },
  {
    name: 'a long quoted quantity',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources: { limits: { nvidia.com/gpu: "${'1 '.repeat(n / 2)}x" } }\n`,
  },
  {
    name: 'a long label of a GPU',
    most: 900_000,
    make: (n) => `${pod}${containers}      nodeSelector:\n        nvidia.com/gpu.product: ${'a-'.repeat(n / 2)}\n`,
  },
  {
    name: 'a long instance type',
    most: 900_000,
    make: (n) =>
      `${pod}${containers}      nodeSelector:\n        node.kubernetes.io/instance-type: ${'a.'.repeat(n / 2)}\n`,
  },
  {
    name: 'a long taint',
    most: 900_000,
    make: (n) =>
      `${pod}${containers}      tolerations:\n        - key: ${'nvidia.com/'.repeat(n / 11)}\n          operator: Exists\n`,
  },
  {
    name: 'a long resource',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources:\n            limits:\n              nvidia.com/${'a'.repeat(n)}: 1\n`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'a long MIG resource',
    most: 500,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        - name: a${i}\n          image: a\n          resources:\n            limits:\n              nvidia.com/mig-${'1g.'.repeat(300)}: 1\n`)}`,
  },
  {
    name: 'a long query',
    most: 900_000,
    make: (n) =>
      `apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { name: b }\n  triggers:\n    - type: prometheus\n      metadata: { query: "${'sum(a) by '.repeat(n / 10)}", threshold: "1" }\n`,
  },
  {
    name: 'triggers',
    most: 10_000,
    make: (n) =>
      `apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { name: b }\n  minReplicaCount: 0\n  triggers:\n${many(n, (i) => `    - type: prometheus\n      metadata: { query: "gpu${i}", threshold: "1" }\n`)}`,
  },
  {
    name: 'metrics',
    most: 9000,
    make: (n) =>
      `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: server }\n  metrics:\n${many(n, () => `    - type: Resource\n      resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } }\n`)}---\n${pod}${containers}`,
  },
  {
    name: 'node pools',
    most: 3000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n${i} }\nspec:\n  template:\n    spec:\n      taints: [{ key: nvidia.com/gpu, value: v${i}, effect: NoSchedule }]\n      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }]\n`,
      ),
  },
  {
    name: 'requirements of a node pool',
    most: 10_000,
    make: (n) =>
      `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n }\nspec:\n  template:\n    spec:\n      requirements:\n${many(n, () => `        - { key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }\n`)}`,
  },
  {
    name: 'taints of a node pool',
    most: 12_000,
    make: (n) =>
      `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n }\nspec:\n  template:\n    spec:\n      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }]\n      taints:\n${many(n, (i) => `        - { key: nvidia.com/gpu, value: v${i}, effect: NoSchedule }\n`)}`,
  },
  {
    name: 'replica specs',
    most: 3000,
    make: (n) =>
      `apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: { name: a }\nspec:\n  pytorchReplicaSpecs:\n${many(n, (i) => `    Worker${i}:\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: pytorch\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'worker groups',
    most: 3000,
    make: (n) =>
      `apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: { name: a }\nspec:\n  headGroupSpec: { template: { spec: { containers: [{ name: h, image: a }] } } }\n  workerGroupSpecs:\n${many(n, (i) => `    - groupName: g${i}\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: ray\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'templates of a Workflow',
    most: 4000,
    make: (n) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: { name: a }\nspec:\n  entrypoint: t0\n  templates:\n${many(n, (i) => `    - name: t${i}\n      container:\n        image: a\n        command: [python, train.py]\n        resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'steps of a Workflow',
    most: 4000,
    make: (n) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: { name: a }\nspec:\n  entrypoint: main\n  templates:\n    - name: main\n      steps:\n${many(n, (i) => `        - - { name: s${i}, template: t${i} }\n`)}${many(n, (i) => `    - name: t${i}\n      container:\n        image: a\n        resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'tasks of a volcano Job',
    most: 3000,
    make: (n) =>
      `apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: { name: a }\nspec:\n  minAvailable: 3\n  tasks:\n${many(n, (i) => `    - name: t${i}\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: ray\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'replicated jobs',
    most: 2500,
    make: (n) =>
      `apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: { name: a }\nspec:\n  replicatedJobs:\n${many(n, (i) => `    - name: t${i}\n      replicas: 2\n      template:\n        spec:\n          template:\n            spec:\n              containers:\n                - name: ray\n                  image: a\n                  resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'flavors of a queue',
    most: 7000,
    make: (n) =>
      `apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: { name: a }\nspec:\n  resourceGroups:\n    - coveredResources: [nvidia.com/gpu]\n      flavors:\n${many(n, (i) => `        - name: f${i}\n          resources: [{ name: nvidia.com/gpu, nominalQuota: 4 }]\n`)}`,
  },
  {
    name: 'covered resources',
    most: 20_000,
    make: (n) =>
      `apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: { name: a }\nspec:\n  resourceGroups:\n    - coveredResources: [${many(n, (i) => `example.com/gpu${i}, `)}]\n      flavors:\n        - name: f\n          resources: [${many(n, (i) => `{ name: example.com/gpu${i} }, `)}]\n`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'unknown kind with pods',
    most: 3000,
    make: (n) =>
      `apiVersion: example.com/v1\nkind: Foo\nspec:\n${many(n, (i) => `  p${i}:\n    template:\n      spec:\n        containers:\n          - name: a\n            image: b\n            resources: { limits: { nvidia.com/gpu: 1 } }\n`)}`,
  },
  {
    name: 'Helm values',
    most: 5000,
    make: (n) =>
      many(
        n,
        (i) =>
          `w${i}:\n  replicaCount: 2\n  image: { repository: a, tag: b }\n  resources: { limits: { nvidia.com/gpu: 1 } }\n  nodeSelector: {}\n  tolerations: []\n`,
      ),
  },
  {
    name: 'selectors that conflict',
    most: 15_000,
    make: (n) =>
      `${pod}${containers}      nodeSelector:\n${many(n, (i) => `        nvidia.com/gpu.product: NVIDIA-L${i}\n`)}`,
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
  { name: 'dates', most: 300_000, make: (n) => `# gpu\na: ${'1:'.repeat(n)}1\n` },
  { name: 'digits with underscores', most: 400_000, make: (n) => `# gpu\na: ${'1_'.repeat(n)}x\n` },
  { name: 'base 60', most: 300_000, make: (n) => `# gpu\na: 1${':59'.repeat(n)}x\n` },
];

const faulty = {
  name: 'containers to be fixed',
  most: 6000,
  make: (/** @type {number} */ n) =>
    // Without a selector it would be a patch, which says nothing by what it leaves out.
    `${pod.replace('  replicas: 2', '  selector: { matchLabels: { app: server } }')}      containers:\n${many(n, (i) => container(i).replace('limits', 'requests'))}`,
};

/** Every text that was found to be slow once, and its relatives. @type {readonly Growing[]} */
export const texts = [...named, ...relatives, faulty];

/** The inputs of the benchmark: a text and a request. @type {readonly (readonly [name: string, ask: string, most?: number])[]} */
const requests = [
  ['suppressions', 'open'],
  ['suppressions of the next line', 'open'],
  ['findings and suppressions in one pod', 'open'],
  ['tolerations', 'open'],
  ['suppressions of unknown rules', 'open'],
  ['tolerations', 'hover'],
  ['flags in one command', 'open'],
  ['flags in one command', 'hover'],
  ['flags that save', 'hover'],
  ['dashes', 'completion'],
  ['YAML errors', 'open'],
  ['YAML errors, documents', 'open'],
  ['missing anchors', 'open'],
  ['aliases', 'open'],
  ['anchors and aliases', 'open'],
  ['merge keys', 'open'],
  ['init containers', 'open'],
  ['containers to be fixed', 'select', 300],
  ['containers to be fixed', 'fixAll'],
  ['tolerations with a mistake', 'fixAll', 4000],
  ['commands of a script', 'hover'],
  ['MIG resources', 'inlayHint'],
  ['mounts and paths', 'open'],
  ['containers that mount', 'open'],
  ['small documents', 'open', 40_000],
  ['documents with claims', 'open'],
  ['markers in template comments', 'open'],
  ['items of a List', 'open'],
  ['empty lines', 'open'],
  ['keys', 'completion'],
  ['block scalars', 'completion'],
  ['actions', 'open'],
  ['JSON', 'open'],
  ['JSON', 'fixAll', 4000],
];

/** @type {readonly Case[]} */
export const cases = requests.map(([name, ask, most]) => {
  const text = texts.find((one) => one.name === name);
  if (text === undefined) throw new Error(`no text has many ${name}`);
  return { ...text, name: `${name}: ${ask}`, ask, most: most ?? text.most };
});
