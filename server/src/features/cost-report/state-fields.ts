import { tableOf } from '../../yaml/table.ts';

/** The fields of a workload's costs in every report: with a base, in both states. */
export const stateFields = [
  'path',
  'line',
  'gpus',
  'hourly',
  'isOpen',
  'monthly',
  'possibleHourly',
  'nodeHourly',
  'idleHourly',
  'problem',
] as const;

/** Those of a report of one state. */
export const rowFields = [...stateFields, 'run', 'team', 'cards', 'providers', 'caveat'] as const;

/** The named fields of a record, in their order: a row has more than a reader should see. */
export function pick<T, K extends keyof T & string>(record: T, fields: readonly K[]): Pick<T, K> {
  return tableOf(fields.map((field) => [field, record[field]] as const)) as unknown as Pick<T, K>;
}

/** The fields of a total in reports. What its devices are called is for words only. */
export const totalFields = [
  'workloads',
  'unpriced',
  'gpus',
  'hourly',
  'isOpen',
  'monthly',
  'ending',
  'ranged',
  'idleHourly',
] as const;
