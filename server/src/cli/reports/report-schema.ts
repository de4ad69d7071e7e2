import * as z from 'zod';
import { topics } from '../../rules/rule.ts';

// The shape of `gpulint check --format json`, version 1. It is a public interface: fields may be added, a field's meaning
// does not change. schemas/report.schema.json is generated from it.

const range = (unit: string) =>
  z.object({ min: z.number(), max: z.number() }).describe(`From the floor to the ceiling, in ${unit}.`);

const uncertainRange = z.object({ min: z.number().nullable(), max: z.number().nullable() });

const position = z.object({
  line: z.int().min(1),
  column: z.int().min(1).describe('In UTF-16 code units.'),
});

const rangeSchema = z
  .object({ start: position, end: position })
  .describe('Half open: the end is the first place behind it.');
export type ReportRange = z.infer<typeof rangeSchema>;

const accelerator = z.object({
  resource: z.string().describe('The resource name.'),
  perPod: z.number().nullable().describe('As written; null where it is templated.'),
  devices: z.number().nullable().describe('Devices of the hardware that one pod takes; a slice counts as its share.'),
  model: z.string().nullable().describe('Id in the catalogue.'),
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
    .describe('What names the model.'),
});

const podSet = z.object({
  name: z.string().describe("The role's name in the kind."),
  pods: uncertainRange.describe('Pods at steady state; null where that is not known.'),
  accelerators: z.array(accelerator),
});

const costBasis = z.object({
  podSet: z.string(),
  provider: z.string(),
  region: z.string(),
  instanceType: z.string(),
  pricing: z.enum(['on-demand', 'spot', 'reserved']),
  instanceHourly: z.number(),
  share: z.number().describe('The part of the instance that one pod takes.'),
  spotInstanceHourly: z
    .number()
    .nullable()
    .optional()
    .describe('The same instance on spot; null where no price is known, absent where the basis is a spot price.'),
  asOf: z.string().nullable().describe('The date of the price.'),
  source: z.string(),
});

const cost = z.object({
  currency: z.literal('USD'),
  hourly: range('US dollars an hour'),
  monthly: range('US dollars in 730 hours'),
  idleHourly: z.number().describe('What an hour costs with replicas at their floor.'),
  spotHourly: range('US dollars an hour').nullable(),
  basis: z.array(costBasis),
  assumptions: z.array(z.string()),
});

const memory = z.object({
  container: z.string(),
  model: z.string(),
  use: z.enum(['serving', 'training']),
  needGiB: z.number(),
  weightsGiB: z.number().nullable(),
  kvCacheGiB: z.number().nullable(),
  overheadGiB: z.number().nullable(),
  haveGiB: z.number().nullable(),
  fits: z.boolean().nullable(),
  assumptions: z.array(z.string()),
});

const workloadSchema = z.object({
  apiVersion: z
    .string()
    .describe('Empty for a block of a Helm values file, whose kind is Values and whose role is definition.'),
  kind: z.string(),
  name: z.string().nullable(),
  namespace: z.string().nullable(),
  ...position.shape,
  role: z
    .enum(['serving', 'training', 'batch', 'interactive', 'infrastructure', 'definition', 'unknown'])
    .describe('definition: nothing runs from it by itself.'),
  roleConfidence: z
    .enum(['certain', 'likely', 'guess'])
    .optional()
    .describe(
      'certain: the kind or the program says it; likely: an image or a name does; guess: ports and probes, or nothing.',
    ),
  podSets: z.array(podSet),
  gpus: uncertainRange.describe(
    'Devices over all pod sets, from floor to ceiling; null where that is not well defined.',
  ),
  capacity: z.enum(['spot', 'on-demand', 'reserved', 'flex', 'unknown']),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  providerFrom: z.enum(['nodeSelector', 'affinity', 'instance-type', 'config']).nullable(),
  cost: cost.nullable().describe('null when nothing can be priced; costProblem says why.'),
  costProblem: z.string().optional(),
  memory: z.array(memory),
  countedIn: z
    .array(z.string())
    .optional()
    .describe('Paths of the kustomizations that include it: the sums count what they make, and not this workload.'),
});
export type ReportWorkload = z.infer<typeof workloadSchema>;

const fix = z.object({
  title: z.string(),
  safe: z.boolean().describe('What --fix applies.'),
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
    .describe('Names the finding from run to run, also when its lines move; what baselines and SARIF hold.'),
  fixes: z.array(fix),
  saving: z
    .object({ hourly: z.number(), currency: z.literal('USD') })
    .optional()
    .describe('What following the advice would save.'),
});
export type ReportFinding = z.infer<typeof findingSchema>;

const fileSchema = z.object({
  path: z.string().describe('As given, or relative to the folder that was given.'),
  folder: z.string().optional().describe('The folder that was given, where the file was found by walking it.'),
  parse: z
    .enum(['ok', 'template', 'error', 'skipped'])
    .describe(
      'template: read with its templated parts masked; error: part of it could not be read; skipped: nothing was.',
    ),
  problem: z.string().nullable().describe('A sentence where parse is error or skipped.'),
  workloads: z.array(workloadSchema),
  findings: z.array(findingSchema),
  baselined: z.int().optional().describe('Findings left out because they are in the baseline.'),
  fixed: z
    .array(z.object({ rule: z.string(), title: z.string() }))
    .optional()
    .describe('What --fix changed in the file; the findings are those that are left.'),
});
export type ReportFile = z.infer<typeof fileSchema>;

/** What `gpulint check --format json` writes to standard output. */
export const reportSchema = z
  .object({
    version: z.literal(1),
    summary: z.object({
      files: z.int().describe('Also those that were skipped.'),
      skipped: z
        .int()
        .optional()
        .describe('Files that were not read, or are not text gpulint can check; each gives the reason.'),
      workloads: z.int().describe('Without those that countedIn names kustomizations for.'),
      findings: z.object({ error: z.int(), warning: z.int(), info: z.int(), hint: z.int() }),
      baselined: z.int().optional().describe('Findings left out because they are in the baseline.'),
      gpus: range('devices; workloads whose number is not known are left out'),
      hourly: range('US dollars an hour; workloads without a price are left out'),
    }),
    catalog: z.object({ pricesAsOf: z.string(), sources: z.array(z.string()) }),
    files: z.array(fileSchema),
  })
  .describe('The report of gpulint check --format json, version 1.');
export type Report = z.infer<typeof reportSchema>;
