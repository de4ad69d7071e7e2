import * as z from 'zod';

// The shape of `gpulint cost --format json`, version 1. It is a public interface: new fields may appear, but the meaning of a field does not
// change. schemas/cost.schema.json is generated from it.

const range = (unit: string) =>
  z.object({ min: z.number(), max: z.number() }).describe(`From minimum to maximum replicas, in ${unit}.`);

const increase = range('US dollars per hour')
  .extend({
    isOpen: z
      .literal(true)
      .optional()
      .describe(
        'The number of pods has no known bound: at the maximum, the change is unknown, and counts as at the minimum.',
      ),
  })
  .nullable();

const state = z
  .object({
    path: z.string().describe('Below the root of the repository.'),
    line: z.int().min(1),
    gpus: z.object({ min: z.number().nullable(), max: z.number().nullable() }),
    hourly: range('US dollars per hour').nullable(),
    isOpen: z.boolean().describe('The number of pods has no known bound, so neither has the amount.'),
    monthly: range('US dollars per 730 hours')
      .nullable()
      .describe('Of a schedule: its runs. null for a workload that ends if they are unknown, and without a price.'),
    run: z.string().nullable().optional().describe('What one run costs, in words. Absent with a base.'),
    idleHourly: z
      .number()
      .nullable()
      .describe(
        'US dollars per hour with replicas at their minimum; null for workloads that are not servers, and without a price.',
      ),
    possibleHourly: range('US dollars per hour')
      .nullable()
      .describe('Without a price because the GPU model is unknown: from the cheapest to the most expensive one.'),
    nodeHourly: range('US dollars per hour per node')
      .nullable()
      .optional()
      .describe('For the pods of a DaemonSet, whose number of nodes is unknown; null for others, and without a price.'),
    problem: z.string().nullable().describe('Why there is no price.'),
    team: z.string().nullable().optional().describe('The value of a label that names the owner. Absent with a base.'),
    cards: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('The names of the GPU models; empty if unknown. Absent with a base.'),
    providers: z.array(z.string()).readonly().optional().describe('Whose prices apply. Absent with a base.'),
    caveat: z
      .string()
      .nullable()
      .optional()
      .describe('What the amount is not: "spot price unknown". Absent with a base.'),
  })
  .nullable();

const total = z.object({
  workloads: z.int(),
  unpriced: z.int().describe('Workloads without a price; the amounts do not include them.'),
  gpus: range('devices'),
  hourly: range('US dollars per hour'),
  isOpen: z.boolean().describe('The number of pods of a workload has no known bound; it counts with its minimum.'),
  monthly: range('US dollars per 730 hours').describe('Of workloads that stay up, and the runs of schedules.'),
  ending: z.int().describe('Workloads that end: monthly does not include them.'),
  ranged: z
    .object({ workloads: z.int(), hourly: range('US dollars per hour') })
    .describe('The workloads without a price that have a range, and the sum of their ranges.'),
  idleHourly: z.number(),
});

/** The output of `gpulint cost --format json`. */
export const costSchema = z
  .object({
    version: z.literal(1),
    currency: z.literal('USD'),
    base: z.string().nullable().describe('The git revision or report that the costs are compared with.'),
    workloads: z.array(
      z.object({
        kind: z.string(),
        namespace: z.string().nullable(),
        name: z.string().nullable(),
        before: state.describe('null if the workload is new, or if there is no base.'),
        after: state.describe('null if the workload is removed.'),
        increase: increase.describe('null without a base, or if a price is unknown.'),
      }),
    ),
    before: total.nullable(),
    after: total,
    increase,
    savings: z
      .array(
        z.object({
          workload: z.string().nullable().describe('Kind/name.'),
          message: z.string(),
          hourly: z.number().describe('US dollars per hour.'),
          fix: z.string().nullable().describe('The title of the fix.'),
          path: z.string(),
          line: z.int().min(1),
        }),
      )
      .readonly()
      .optional()
      .describe('Advice that saves money. Savings for the same workload can be alternatives. Absent with a base.'),
    priceBasis: z
      .string()
      .nullable()
      .optional()
      .describe('The provider, region and date of the prices. Absent with a base.'),
    nodePools: z
      .array(
        z.object({
          path: z.string(),
          line: z.int().min(1),
          name: z.string().nullable(),
          nodeHourly: range('US dollars per hour')
            .nullable()
            .describe('One node, from the cheapest to the most expensive machine; null if its price is unknown.'),
          nodes: range('nodes').nullable().describe('At the limit of the pool; null without a limit.'),
          limitHourly: range('US dollars per hour').nullable().describe('All nodes at the limit.'),
          problem: z.string().nullable().describe('Why the price is unknown; null if it is known.'),
        }),
      )
      .readonly()
      .optional()
      .describe('The GPU node pools in the files. The totals do not include them. Absent with a base.'),
  })
  .describe('The output of gpulint cost --format json, version 1.');
export type CostJson = z.infer<typeof costSchema>;
