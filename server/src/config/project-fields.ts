import * as z from 'zod/mini';
import { gpus, platforms, providers, type Vendor } from '../catalog/index.ts';
import { commitments } from '../cost/custom-prices.ts';
import { keyProblem, labelValueProblem } from '../model/api-syntax.ts';
import { taintEffects } from '../model/node-pool.ts';
import { rules } from '../rules/index.ts';
import type { RuleOption, Severity } from '../rules/rule.ts';

// `zod/mini` has functions instead of methods: unused ones are not bundled, and startup builds a third of the objects.

/** An optional key, with its description in hovers and in the JSON schema. */
export function key<T extends z.ZodMiniType>(schema: T, description: string) {
  return z.exactOptional(schema).check(z.describe(description));
}

/** An optional key for which `null` means the same as no value. */
export function unset<T extends z.ZodMiniType>(schema: T, description: string) {
  return key(z.nullable(schema), description);
}

/** A required key. */
export function must<T extends z.ZodMiniType>(schema: T, description: string): T {
  return schema.check(z.describe(description)) as T;
}

const level = z
  .enum(['error', 'warning', 'info', 'hint', 'off'] as const satisfies readonly (Severity | 'off')[])
  .check(z.meta({ id: 'level' }));

const gpu = z.enum([...gpus.keys()]);

function deviceOf(vendor: Vendor) {
  return z.enum([...gpus.values()].filter((model) => model.vendor === vendor).map(({ id }) => id));
}

/** A GPU that the catalog lacks is accepted as stated. */
const anyGpu = z.union([gpu, z.string().check(z.minLength(1))]);

const capacity = z.enum(['spot', 'on-demand']);

/** Larger than any real price, interval or count: beyond it, sums have no meaning. */
const maxNumber = 1e9;

const positive = z.number().check(z.positive(), z.maximum(maxNumber));

const percent = z.number().check(z.minimum(0), z.lt(100));

const atLeastZero = z.number().check(z.minimum(0), z.maximum(maxNumber));

const ownMachine = z.strictObject({
  gpus: must(z.int().check(z.minimum(1), z.maximum(1024)), 'Number of GPUs per machine.'),
  purchasePrice: must(positive, 'Price of one machine in US dollars.'),
  years: must(z.number().check(z.minimum(0.5), z.maximum(50)), 'Years of use, after which the machine has no value.'),
  watts: must(positive, 'Average power of one machine in watts.'),
  pue: must(
    z.number().check(z.minimum(1), z.maximum(10)),
    'Power usage effectiveness of the data center, for example 1.4.',
  ),
  electricityPerKwh: must(atLeastZero, 'Price of electricity in US dollars per kilowatt-hour.'),
  staffPerYear: must(atLeastZero, 'US dollars per year for staff and space, per machine.'),
  utilizationPercent: must(
    z.number().check(z.positive(), z.maximum(100)),
    'Percentage of hours in which the GPUs are in use.',
  ),
});

const named = z.string().check(z.minLength(1));

/** Keys and values of labels and taints. Fixes write them into manifests, where the API server would reject any other form. */
const qualifiedName = matches(keyProblem);
const labelValue = matches(labelValueProblem);

/** @param problem what is wrong with a text, as the end of a sentence that starts with it */
function matches(problem: (text: string) => string | undefined) {
  const error = ({ input }: { readonly input?: unknown }) => problem(String(input));
  return z.string().check(z.refine((text) => problem(text) === undefined, { error }));
}

const taints = z.array(
  z.strictObject({
    key: must(qualifiedName, 'Key of the taint, for example team/gpu.'),
    value: unset(labelValue, 'Value of the taint. Without one, tolerations of any value match.'),
    effect: must(z.enum(taintEffects), 'Effect of the taint on pods that do not tolerate it.'),
  }),
);

/** `1.34`, `v1.34.2`: only major and minor are used. */
const version = z.string().check(z.regex(/^v?\d+\.\d+/));

function numbersOf(options: Readonly<Record<string, RuleOption>>) {
  const fields = Object.entries(options).map(([name, { least, description, default: usual }]) => {
    const field = key(z.number().check(z.minimum(least), z.maximum(maxNumber)), `${description} Default: ${usual}.`);
    return [name, field] as const;
  });
  return z.exactOptional(z.strictObject(Object.fromEntries(fields)));
}

/** The keys that describe a project, the same in the file, in its overrides and in the editor's settings. */
export const projectFields = {
  platform: unset(
    z.enum([...platforms.keys()]),
    'Platform of the cluster. It implies the provider and decides which labels and tolerations are suggested.',
  ),
  provider: unset(z.enum(providers), 'Cloud whose prices apply if a manifest names none.'),
  region: unset(z.string(), 'Region of the provider whose prices apply, for example us-east-1.'),
  gpu: unset(anyGpu, 'GPU model (catalog id or your own name) for requests whose selectors name none.'),
  neuron: unset(deviceOf('aws'), 'Neuron device (catalog id) for requests whose selectors name none.'),
  tpu: unset(deviceOf('google'), 'TPU version (catalog id) for requests whose selectors name none.'),
  gaudi: unset(deviceOf('habana'), 'Gaudi generation (catalog id) for requests whose selectors name none.'),
  capacity: unset(capacity, 'Capacity type of GPU nodes if a manifest names none.'),
  kserve: key(
    z.strictObject({
      version: unset(
        version,
        'Version of KServe in the cluster, for example 0.15. Deployment modes had other names before 0.16.',
      ),
      deploymentMode: unset(
        z.enum(['Knative', 'Standard']),
        "Deployment mode of InferenceServices without the annotation: KServe's default in the cluster.",
      ),
    }),
    'KServe in the cluster.',
  ),
  training: key(
    z.strictObject({
      stepSeconds: unset(
        positive,
        'Duration of one training step in seconds. It converts checkpoint intervals from steps to time.',
      ),
      checkpointSeconds: unset(positive, 'Time in seconds that training pauses to write one checkpoint.'),
      checkpointGiBPerSecond: unset(
        positive,
        'Combined speed in GiB per second at which the pods of a job write a checkpoint. Together with the checkpoint size, it replaces training.checkpointSeconds.',
      ),
      hoursBetweenInterruptions: unset(
        positive,
        'Average number of hours between interruptions of a job. It determines which checkpoint interval loses the least work.',
      ),
      mfu: unset(
        z.number().check(z.positive(), z.maximum(1)),
        "Share of the GPUs' peak speed that training reaches (model FLOPS utilization). Default: 0.5.",
      ),
    }),
    'Durations of training jobs.',
  ),
  serving: key(
    z.strictObject({
      idleHoursPerDay: unset(
        z.number().check(z.minimum(0), z.maximum(24)),
        'Hours per day without traffic. They determine what scaling to zero saves.',
      ),
    }),
    'Traffic of endpoints.',
  ),
  kubernetesVersion: unset(
    version,
    'Version of Kubernetes in the cluster, for example 1.34. Newer fields and APIs are reported.',
  ),
  migStrategy: unset(
    z.enum(['none', 'single', 'mixed']),
    "MIG strategy of NVIDIA's device plugin. With mixed, resource names contain the slice; with single, a node label does.",
  ),
  sharing: key(
    z.strictObject({
      strategy: unset(z.enum(['time-slicing', 'mps']), 'Mechanism by which pods share one GPU.'),
      replicas: unset(
        z.int().check(z.minimum(2), z.maximum(maxNumber)),
        'Number of pods that share one GPU. One nvidia.com/gpu.shared is this fraction of a GPU.',
      ),
    }),
    'Sharing of GPUs among pods.',
  ),
  headroom: unset(
    z.number().check(z.minimum(0), z.lt(1)),
    'Fraction of GPU memory to keep free in addition to what the model needs, for example 0.2. Default: 0.1.',
  ),
  modelParams: key(
    z.record(z.string(), z.string().check(z.regex(/^(?:\d{1,3}x)?\d{1,4}(?:\.\d{1,3})?[bm]$/i))),
    'Parameter counts of models whose names do not state them, by the name or path that the server loads: {/mnt/models: 13B}.',
  ),
  prices: key(
    z.strictObject({
      discountPercent: unset(percent, 'Contract discount on on-demand list prices, in percent.'),
      discounts: key(
        z.record(z.string(), percent),
        'Discounts for individual providers and instance types, in percent, instead of discountPercent: {aws: 15, p5.48xlarge: 30}.',
      ),
      commitment: unset(
        z.enum(commitments),
        'Term of committed use. Its list price applies if the price sheet has one: on Google Cloud in us-central1.',
      ),
      gpus: key(
        z.record(anyGpu, positive),
        'US dollars per hour for one GPU (catalog id or your own name), instead of its on-demand list price.',
      ),
      instanceTypes: key(
        z.record(z.string(), positive),
        'US dollars per hour for an instance type, instead of its on-demand list price.',
      ),
      maxAgeDays: unset(
        z.int().check(z.minimum(0), z.maximum(maxNumber)),
        'Age in days after which gpulint warns once that list prices are old. 0 turns the warning off. Default: 90.',
      ),
      onPrem: key(
        z.record(anyGpu, ownMachine),
        'Your own machines, by GPU (catalog id or your own name). Their price per hour of use applies to pods whose cloud is unknown.',
      ),
    }),
    'Prices that you actually pay: contracts, reservations, your own machines.',
  ),
  budgets: key(
    z.array(
      z.strictObject({
        name: must(named, 'Name of the budget, for messages.'),
        namespace: unset(named, 'Namespace of the workloads. Without one, workloads of every namespace count.'),
        labels: key(z.record(z.string(), z.string()), 'Labels of the workloads or their pods. All of them must match.'),
        maxHourly: must(
          positive,
          'Maximum cost of the workloads together, in US dollars per hour, with replicas at their maximum.',
        ),
      }),
    ),
    'Budgets of workloads by namespace and labels. gpulint cost fails if one is exceeded.',
  ),
  taints: key(taints, 'Taints of your GPU nodes, except those that the cluster tolerates automatically for GPU pods.'),
  nodePools: key(
    z.array(
      z.strictObject({
        name: must(named, 'Name of the pool.'),
        labels: must(
          z.record(qualifiedName, labelValue),
          'Labels of the nodes. A pod runs here if its selectors match at least one of these labels and contradict none.',
        ),
        gpu: unset(anyGpu, 'GPU model of the nodes (catalog id or your own name).'),
        instanceType: unset(
          z.string(),
          'Instance type of the nodes, or your own name with a price in prices.instanceTypes.',
        ),
        devices: unset(
          z.int().check(z.minimum(1), z.maximum(1024)),
          'Number of GPUs per node, for machines that are not in the catalog.',
        ),
        diskGiB: unset(
          positive,
          "Size in GiB of the disk for pods' ephemeral storage. Pods that request this much or more do not fit.",
        ),
        capacity: unset(capacity, 'Capacity type of the nodes.'),
        taints: key(taints, 'Taints of the nodes.'),
      }),
    ),
    'Pools of GPU nodes, each with the labels that select it.',
  ),
  rules: key(
    z.strictObject(Object.fromEntries([...rules.keys()].map((id) => [id, z.exactOptional(level)]))),
    'Severity of a rule, instead of its default. The value off turns the rule off.',
  ),
  ruleOptions: key(
    z.strictObject(
      Object.fromEntries([...rules].flatMap(([id, { options }]) => (options ? [[id, numbersOf(options)]] : []))),
    ),
    "Thresholds of individual rules. Each rule's page lists its options.",
  ),
};
