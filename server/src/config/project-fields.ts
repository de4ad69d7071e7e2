import * as z from 'zod';
import { gpus, platforms } from '../catalog/index.ts';
import { rules } from '../rules/index.ts';
import type { Severity } from '../rules/rule.ts';
import { providers } from './providers.ts';

const level = z
  .enum(['error', 'warning', 'info', 'hint', 'off'] as const satisfies readonly (Severity | 'off')[])
  .meta({ id: 'level' });

const gpu = z
  .enum([...gpus.keys()])
  .nullable()
  .exactOptional();

const capacity = z.enum(['spot', 'on-demand']).nullable().exactOptional();

const taints = z.array(
  z.strictObject({
    key: z.string().min(1).describe("The taint's key, for instance team/gpu."),
    value: z.string().nullable().exactOptional().describe("The taint's value; left out: tolerations of any are taken."),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .describe('What the taint does to pods that do not tolerate it.'),
  }),
);

/** `1.34`, `v1.34.2`: of a version only the first two numbers count. */
function versionText(description: string) {
  return z
    .string()
    .regex(/^v?\d+\.\d+/)
    .nullable()
    .exactOptional()
    .describe(description);
}

/** What a project says of itself; the same keys in the file, in its overrides, and in the editor's settings. */
export const projectFields = {
  platform: z
    .enum([...platforms.keys()])
    .nullable()
    .exactOptional()
    .describe('Where the cluster runs. It names the provider, and the labels and tolerations that are offered.'),
  provider: z
    .enum(providers)
    .nullable()
    .exactOptional()
    .describe('The cloud whose prices are meant where a manifest names none.'),
  region: z
    .string()
    .nullable()
    .exactOptional()
    .describe("The provider's region to read prices for, for instance us-east-1."),
  gpu: gpu.describe('The GPU model, by catalogue id, that a request means where no selector names one.'),
  capacity: capacity.describe('How GPU nodes are bought where a manifest does not say.'),
  kserve: z
    .strictObject({
      version: versionText(
        'The version of KServe in the cluster, for instance 0.15: modes had other names before 0.16.',
      ),
      deploymentMode: z
        .enum(['Knative', 'Standard'])
        .nullable()
        .exactOptional()
        .describe("The mode of InferenceServices without the annotation, as the cluster's KServe is set up."),
    })
    .exactOptional()
    .describe('How KServe is set up in the cluster.'),
  training: z
    .strictObject({
      stepSeconds: z
        .number()
        .positive()
        .nullable()
        .exactOptional()
        .describe(
          'How long one step of training takes: trainers count steps between checkpoints, and time is what they cost.',
        ),
      checkpointSeconds: z
        .number()
        .positive()
        .nullable()
        .exactOptional()
        .describe('How long training waits while one checkpoint is written.'),
      hoursBetweenInterruptions: z
        .number()
        .positive()
        .nullable()
        .exactOptional()
        .describe('How many hours a job runs between two interruptions on average: what checkpoints are for.'),
    })
    .exactOptional()
    .describe('How training runs.'),
  serving: z
    .strictObject({
      idleHoursPerDay: z
        .number()
        .min(0)
        .max(24)
        .nullable()
        .exactOptional()
        .describe('Hours of a day in which nobody asks an endpoint: what scaling to zero would save.'),
    })
    .exactOptional()
    .describe('How endpoints are used.'),
  kubernetesVersion: versionText(
    'The version of Kubernetes in the cluster, for instance 1.34: fields and APIs that came later are told.',
  ),
  migStrategy: z
    .enum(['none', 'single', 'mixed'])
    .nullable()
    .exactOptional()
    .describe(
      "The MIG strategy of NVIDIA's device plugin: mixed names slices in resources, single in the label of the node.",
    ),
  sharing: z
    .strictObject({
      strategy: z
        .enum(['time-slicing', 'mps'])
        .nullable()
        .exactOptional()
        .describe('How the nodes share one GPU among pods.'),
      replicas: z
        .int()
        .min(2)
        .nullable()
        .exactOptional()
        .describe('How many pods share one GPU: what one nvidia.com/gpu.shared is of a card.'),
    })
    .exactOptional()
    .describe('How GPUs are shared where a pod asks for a part of one.'),
  prices: z
    .strictObject({
      discountPercent: z
        .number()
        .min(0)
        .lt(100)
        .nullable()
        .exactOptional()
        .describe('What is taken off on-demand list prices by contract, in percent.'),
      gpus: z
        .partialRecord(z.enum([...gpus.keys()]), z.number().positive())
        .exactOptional()
        .describe('US dollars an hour for one GPU, by catalogue id, in place of on-demand list prices.'),
      instanceTypes: z
        .record(z.string(), z.number().positive())
        .exactOptional()
        .describe('US dollars an hour for an instance type, in place of its on-demand list price.'),
    })
    .exactOptional()
    .describe('What is really paid: contracts, reservations, machines of your own.'),
  taints: taints
    .exactOptional()
    .describe("Taints of the project's GPU nodes, without those that the cluster lets GPU pods tolerate by itself."),
  nodePools: z
    .array(
      z.strictObject({
        name: z.string().min(1).describe('What the pool is called.'),
        labels: z
          .record(z.string(), z.string())
          .describe('Labels of its nodes. A pod whose selectors name one of them and contradict none runs there.'),
        gpu: gpu.describe('The GPU of its nodes, by catalogue id.'),
        instanceType: z.string().nullable().exactOptional().describe('The instance type of its nodes.'),
        capacity: capacity.describe('How its nodes are bought.'),
        taints: taints.exactOptional().describe('Taints of its nodes.'),
      }),
    )
    .exactOptional()
    .describe('Pools of GPU nodes, by the labels that pods select them with.'),
  rules: z
    .strictObject(Object.fromEntries([...rules.keys()].map((id) => [id, level.exactOptional()])))
    .exactOptional()
    .describe('A severity to use in place of the own one of a rule; off silences the rule.'),
};
