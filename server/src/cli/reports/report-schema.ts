import * as z from 'zod';
import { topics } from '../../rules/rule.ts';

// The shape of `gpulint check --format json`, version 1. It is a public interface: new fields may appear, but the meaning
// of a field does not change. schemas/report.schema.json is generated from it.

const range = (unit: string) =>
  z.object({ min: z.number(), max: z.number() }).describe(`From minimum to maximum replicas, in ${unit}.`);

const uncertainRange = z.object({ min: z.number().nullable(), max: z.number().nullable() });

const position = z.object({
  line: z.int().min(1),
  column: z.int().min(1).describe('In UTF-16 code units.'),
});

const rangeSchema = z.object({ start: position, end: position }).describe('Half-open: the end is exclusive.');
export type ReportRange = z.infer<typeof rangeSchema>;

const accelerator = z.object({
  resource: z.string().describe('The resource name.'),
  perPod: z.number().nullable().describe('As written; null if templated.'),
  devices: z.number().nullable().describe('Physical devices per pod; a slice counts as its share.'),
  model: z.string().nullable().describe('Id in the catalog.'),
  modelFrom: z
    .enum([
      'nodeSelector',
      'affinity',
      'instance-type',
      'resource-name',
      'annotation',
      'device-class',
      'node-pool',
      'config',
    ])
    .nullable()
    .describe('The source of the model.'),
  models: z
    .array(z.string())
    .optional()
    .describe('The ids of all models that fit, if the object names several: an A100 may have 40 or 80 GB.'),
  modelHint: z
    .string()
    .optional()
    .describe('The text that suggests the model, such as a name or a comment, if nothing requires it.'),
});

const podSet = z.object({
  name: z.string().describe('The name of the role in the kind.'),
  pods: uncertainRange.describe('Pods at steady state; null if unknown.'),
  accelerators: z.array(accelerator),
});

const costBasis = z.object({
  podSet: z.string(),
  provider: z.string(),
  region: z.string(),
  instanceType: z.string(),
  pricing: z.enum(['on-demand', 'spot', 'reserved']),
  instanceHourly: z.number(),
  share: z.number().describe('The share of the instance that one pod uses.'),
  spotInstanceHourly: z
    .number()
    .nullable()
    .optional()
    .describe('The same instance on spot; null if the price is unknown, absent if the basis is a spot price.'),
  asOf: z.string().nullable().describe('The date of the price.'),
  source: z.string(),
});

const cost = z.object({
  currency: z.literal('USD'),
  hourly: range('US dollars per hour'),
  open: z.literal(true).optional().describe('The number of pods has no known bound, so neither has the amount.'),
  monthly: range('US dollars per 730 hours'),
  run: z
    .object({
      hours: z.number().nullable().describe('The length of one run; null if it is unknown.'),
      from: z.enum(['deadline', 'steps']).nullable().describe('deadline: at most; steps: about.'),
      total: range('US dollars for one run').nullable(),
      monthly: range('US dollars for the runs of 730 hours')
        .nullable()
        .describe('null if it runs once, or if unknown.'),
    })
    .optional()
    .describe('For a workload that ends.'),
  idleHourly: z.number().describe('US dollars per hour with replicas at their minimum.'),
  spotHourly: range('US dollars per hour').nullable(),
  basis: z.array(costBasis),
  assumptions: z.array(z.string()),
});

const costRange = z
  .object({
    hourly: range('US dollars per hour'),
    from: z.string().describe('The cheapest model; an id in the catalog.'),
    to: z.string().describe('The most expensive model.'),
    provider: z.string().nullable().describe('null: the range covers every provider.'),
  })
  .describe('The cost on the cheapest and on the most expensive accelerator that can run the workload.');

const nodeHourly = range('US dollars per hour per node').describe(
  'For the pods of a DaemonSet, which have no cost because the number of nodes is unknown.',
);

const memory = z.object({
  container: z.string(),
  model: z.string(),
  use: z.enum(['serving', 'training']),
  needGiB: z.number().nullable().describe('GiB of one device, the most loaded one; null if unknown.'),
  weightsGiB: z.number().nullable(),
  kvCacheGiB: z.number().nullable().describe('The KV cache of one request of maximum length.'),
  overheadGiB: z.number().nullable().describe('Activations, CUDA graphs and libraries.'),
  haveGiB: z.number().nullable().describe('What a process sees on one device or slice; null if the device is unknown.'),
  fits: z.boolean().nullable().describe('null if the device is unknown, or if it is too close to tell.'),
  devices: z.number().nullable().optional().describe('The devices over which the model is spread.'),
  server: z.string().nullable().optional(),
  unknown: z.string().nullable().optional().describe('Why there is no figure.'),
  assumptions: z.array(z.string()),
});

const workloadSchema = z.object({
  apiVersion: z
    .string()
    .describe(
      'Empty for a block of Helm values. Its kind is Values, or that of the object that installs them (HelmRelease).',
    ),
  kind: z.string(),
  name: z.string().nullable(),
  namespace: z.string().nullable(),
  ...position.shape,
  role: z
    .enum(['serving', 'training', 'batch', 'interactive', 'infrastructure', 'definition', 'unknown'])
    .describe('definition: runs nothing on its own.'),
  roleConfidence: z
    .enum(['certain', 'likely', 'guess'])
    .optional()
    .describe(
      'certain: known from the kind or the program; likely: from an image or a name; guess: from ports and probes, or from nothing.',
    ),
  podSets: z.array(podSet),
  gpus: uncertainRange.describe('Devices in all pod sets, from minimum to maximum; null if unknown.'),
  capacity: z.enum(['spot', 'on-demand', 'reserved', 'flex', 'unknown']),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  providerFrom: z.enum(['nodeSelector', 'affinity', 'instance-type', 'config']).nullable(),
  cost: cost.nullable().describe('null without a price; costProblem gives the reason.'),
  costProblem: z.string().optional(),
  costRange: costRange.nullable().optional().describe('Only if the accelerator model is unknown; otherwise null.'),
  nodeHourly: nodeHourly.optional(),
  memory: z.array(memory),
  release: z
    .object({
      gpus: uncertainRange,
      hourly: range('US dollars per hour').nullable(),
      open: z.literal(true).optional(),
      idleHourly: z.number().nullable().describe('null for values that are not a server, and without a price.'),
      costProblem: z.string().optional(),
      costRange: costRange.nullable().optional(),
      nodeHourly: nodeHourly.optional(),
    })
    .optional()
    .describe('For values: what one release of them runs. The totals include it.'),
  cluster: z
    .object({
      context: z.string().describe('The context of the kubeconfig.'),
      outcome: z.enum(['runs', 'fits', 'fits-some', 'preempts', 'grows', 'waits', 'quota', 'never', 'unknown']),
      fitting: z.int().describe('Pods that fit now.'),
      pods: z.int(),
      text: z.string().describe('The same in words.'),
      words: z.string().nullable().describe("Why pods do not fit, in the scheduler's words; null if all fit."),
    })
    .optional()
    .describe(
      'Whether the workload would run in the cluster. Absent without --cluster, and if that cannot be decided.',
    ),
  countedIn: z
    .array(z.string())
    .optional()
    .describe(
      'Paths of the files whose workloads the totals count instead of this one: the kustomizations that include it, or the templates that these values fill in.',
    ),
});
export type ReportWorkload = z.infer<typeof workloadSchema>;

const fix = z.object({
  title: z.string(),
  safe: z.boolean().describe('Whether --fix applies it.'),
  edits: z.array(z.object({ path: z.string(), range: rangeSchema, newText: z.string() })),
});

const findingSchema = z.object({
  rule: z.string(),
  topic: z.enum(topics),
  severity: z.enum(['error', 'warning', 'info', 'hint']),
  message: z.string(),
  workload: z.string().nullable().describe('Kind/name.'),
  container: z.string().nullable(),
  range: rangeSchema,
  docs: z.url(),
  fingerprint: z
    .string()
    .optional()
    .describe('Identifies the finding across runs, even when lines move. Baselines and SARIF use it.'),
  fixes: z.array(fix),
  saving: z
    .object({ hourly: z.number(), currency: z.literal('USD') })
    .optional()
    .describe('The saving from following the advice.'),
});
export type ReportFinding = z.infer<typeof findingSchema>;

const fileSchema = z.object({
  path: z.string().describe('As on the command line, or relative to the folder on the command line.'),
  folder: z.string().optional().describe('The folder on the command line, if the file was found in it.'),
  parse: z
    .enum(['ok', 'template', 'error', 'skipped'])
    .describe('template: read with its templated parts masked; error: partly unreadable; skipped: not read.'),
  problem: z.string().nullable().describe('A sentence if parse is error or skipped.'),
  workloads: z.array(workloadSchema),
  findings: z.array(findingSchema),
  baselined: z.int().optional().describe('Findings excluded because they are in the baseline.'),
  fixed: z
    .array(z.object({ rule: z.string(), title: z.string() }))
    .optional()
    .describe('The changes that --fix made in the file; findings lists the remaining ones.'),
});
export type ReportFile = z.infer<typeof fileSchema>;

/** The output of `gpulint check --format json`. */
export const reportSchema = z
  .object({
    version: z.literal(1),
    summary: z.object({
      files: z.int().describe('Includes skipped files.'),
      skipped: z
        .int()
        .optional()
        .describe('Files that were not read, or are not text that gpulint can check; each has its reason in problem.'),
      workloads: z.int().describe('Without workloads that have countedIn.'),
      findings: z.object({ error: z.int(), warning: z.int(), info: z.int(), hint: z.int() }),
      baselined: z.int().optional().describe('Findings excluded because they are in the baseline.'),
      gpus: range('devices; excludes workloads with an unknown number'),
      hourly: range('US dollars per hour; excludes workloads without a price and those in ranged'),
      unpriced: z
        .int()
        .optional()
        .describe('Workloads that run and have no price: hourly is the sum of the others, and unknown without others.'),
      ranged: z
        .object({ workloads: z.int(), hourly: range('US dollars per hour') })
        .optional()
        .describe('Workloads with a costRange instead of a cost, and the sum of their ranges.'),
    }),
    catalog: z.object({ pricesAsOf: z.string(), sources: z.array(z.string()) }),
    cluster: z
      .object({
        context: z.string().describe('The context of the kubeconfig.'),
        serverVersion: z.string().nullable(),
        asOf: z.string().describe('When its objects were read.'),
        nodes: z.int().describe('Nodes with accelerators.'),
        devices: z
          .object({
            total: z.number(),
            free: z.number().nullable(),
            used: z.number().nullable(),
            unavailable: z.number(),
          })
          .describe('free and used are null if pods may not be read.'),
        hourly: range('US dollars per hour for all nodes with accelerators').nullable(),
        idleHourly: range('US dollars per hour for devices that no pod requests').nullable(),
        unpricedNodes: z.int().describe('Nodes that the amounts do not include.'),
        basis: z.array(z.string()).describe('The prices in use.'),
      })
      .optional()
      .describe('What the cluster of --cluster offers. Its prices are those of the config of the first file.'),
    files: z.array(fileSchema),
  })
  .describe('The report of gpulint check --format json, version 1.');
export type Report = z.infer<typeof reportSchema>;
