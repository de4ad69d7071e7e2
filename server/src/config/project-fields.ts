import * as z from 'zod/mini';
import { gpus, platforms, providers } from '../catalog/index.ts';
import { taintEffects } from '../model/node-pool.ts';
import { rules } from '../rules/index.ts';
import type { RuleOption, Severity } from '../rules/rule.ts';

// `zod/mini` is the same library in functions instead of methods: what is not used is not bundled, and a start builds a third of the objects.

/** A key that may be left out, with what its hover and the JSON schema say of it. */
export function key<T extends z.ZodMiniType>(schema: T, description: string) {
  return z.exactOptional(schema).check(z.describe(description));
}

/** The same, and `null` says as much as leaving it out. */
export function unset<T extends z.ZodMiniType>(schema: T, description: string) {
  return key(z.nullable(schema), description);
}

/** A key that must be there. */
export function must<T extends z.ZodMiniType>(schema: T, description: string): T {
  return schema.check(z.describe(description)) as T;
}

const level = z
  .enum(['error', 'warning', 'info', 'hint', 'off'] as const satisfies readonly (Severity | 'off')[])
  .check(z.meta({ id: 'level' }));

const gpu = z.enum([...gpus.keys()]);

const capacity = z.enum(['spot', 'on-demand']);

/** More than any price, interval or count is: beyond it sums have no meaning. */
const most = 1e9;

const positive = z.number().check(z.positive(), z.maximum(most));

const named = z.string().check(z.minLength(1));

const taints = z.array(
  z.strictObject({
    key: must(named, "The taint's key, for instance team/gpu."),
    value: unset(z.string(), "The taint's value; left out: tolerations of any are taken."),
    effect: must(z.enum(taintEffects), 'What the taint does to pods that do not tolerate it.'),
  }),
);

/** `1.34`, `v1.34.2`: of a version only the first two numbers count. */
const version = z.string().check(z.regex(/^v?\d+\.\d+/));

function numbersOf(options: Readonly<Record<string, RuleOption>>) {
  const fields = Object.entries(options).map(([name, { least, description, default: usual }]) => {
    const field = key(z.number().check(z.minimum(least), z.maximum(most)), `${description} Default: ${usual}.`);
    return [name, field] as const;
  });
  return z.exactOptional(z.strictObject(Object.fromEntries(fields)));
}

/** What a project says of itself; the same keys in the file, in its overrides, and in the editor's settings. */
export const projectFields = {
  platform: unset(
    z.enum([...platforms.keys()]),
    'Where the cluster runs. It names the provider, and the labels and tolerations that are offered.',
  ),
  provider: unset(z.enum(providers), 'The cloud whose prices are meant where a manifest names none.'),
  region: unset(z.string(), "The provider's region to read prices for, for instance us-east-1."),
  gpu: unset(gpu, 'The GPU model, by catalogue id, that a request means where no selector names one.'),
  capacity: unset(capacity, 'How GPU nodes are bought where a manifest does not say.'),
  kserve: key(
    z.strictObject({
      version: unset(
        version,
        'The version of KServe in the cluster, for instance 0.15: modes had other names before 0.16.',
      ),
      deploymentMode: unset(
        z.enum(['Knative', 'Standard']),
        "The mode of InferenceServices without the annotation, as the cluster's KServe is set up.",
      ),
    }),
    'How KServe is set up in the cluster.',
  ),
  training: key(
    z.strictObject({
      stepSeconds: unset(
        positive,
        'How long one step of training takes: trainers count steps between checkpoints, and time is what they cost.',
      ),
      checkpointSeconds: unset(positive, 'How long training waits while one checkpoint is written.'),
      hoursBetweenInterruptions: unset(
        positive,
        'How many hours a job runs between two interruptions on average: what checkpoints are for.',
      ),
    }),
    'How training runs.',
  ),
  serving: key(
    z.strictObject({
      idleHoursPerDay: unset(
        z.number().check(z.minimum(0), z.maximum(24)),
        'Hours of a day in which nobody asks an endpoint: what scaling to zero would save.',
      ),
    }),
    'How endpoints are used.',
  ),
  kubernetesVersion: unset(
    version,
    'The version of Kubernetes in the cluster, for instance 1.34: fields and APIs that came later are told.',
  ),
  migStrategy: unset(
    z.enum(['none', 'single', 'mixed']),
    "The MIG strategy of NVIDIA's device plugin: mixed names slices in resources, single in the label of the node.",
  ),
  sharing: key(
    z.strictObject({
      strategy: unset(z.enum(['time-slicing', 'mps']), 'How the nodes share one GPU among pods.'),
      replicas: unset(
        z.int().check(z.minimum(2), z.maximum(most)),
        'How many pods share one GPU: what one nvidia.com/gpu.shared is of a card.',
      ),
    }),
    'How GPUs are shared where a pod asks for a part of one.',
  ),
  headroom: unset(
    z.number().check(z.minimum(0), z.lt(1)),
    'The share of GPU memory to keep free beside what a model needs, for instance 0.2; 0.1 unless it is told.',
  ),
  prices: key(
    z.strictObject({
      discountPercent: unset(
        z.number().check(z.minimum(0), z.lt(100)),
        'What is taken off on-demand list prices by contract, in percent.',
      ),
      gpus: key(
        z.partialRecord(gpu, positive),
        'US dollars an hour for one GPU, by catalogue id, in place of on-demand list prices.',
      ),
      instanceTypes: key(
        z.record(z.string(), positive),
        'US dollars an hour for an instance type, in place of its on-demand list price.',
      ),
    }),
    'What is really paid: contracts, reservations, machines of your own.',
  ),
  taints: key(
    taints,
    "Taints of the project's GPU nodes, without those that the cluster lets GPU pods tolerate by itself.",
  ),
  nodePools: key(
    z.array(
      z.strictObject({
        name: must(named, 'What the pool is called.'),
        labels: must(
          z.record(z.string(), z.string()),
          'Labels of its nodes. A pod whose selectors name one of them and contradict none runs there.',
        ),
        gpu: unset(gpu, 'The GPU of its nodes, by catalogue id.'),
        instanceType: unset(z.string(), 'The instance type of its nodes.'),
        capacity: unset(capacity, 'How its nodes are bought.'),
        taints: key(taints, 'Taints of its nodes.'),
      }),
    ),
    'Pools of GPU nodes, by the labels that pods select them with.',
  ),
  rules: key(
    z.strictObject(Object.fromEntries([...rules.keys()].map((id) => [id, z.exactOptional(level)]))),
    'A severity to use in place of the own one of a rule; off silences the rule.',
  ),
  ruleOptions: key(
    z.strictObject(
      Object.fromEntries([...rules].flatMap(([id, { options }]) => (options ? [[id, numbersOf(options)]] : []))),
    ),
    'Numbers that single rules count by; the page of a rule has its own.',
  ),
};
