import { HOURS_PER_MONTH } from './money.ts';

// What a machine costs that a project owns: depreciation, electricity and staff. docs/cost.md has the formulas and their sources.

/** A machine with accelerators that the project owns. Money in US dollars. */
export interface OwnMachine {
  /** Accelerators of the machine. */
  readonly gpus: number;
  readonly purchasePrice: number;
  /** Years in use, after which the machine has no value. */
  readonly years: number;
  /** Average draw of the whole machine. */
  readonly watts: number;
  /** Power of the data center divided by power of its machines. */
  readonly pue: number;
  readonly electricityPerKwh: number;
  readonly staffPerYear: number;
  /** Share of all hours in which the accelerators work. */
  readonly utilizationPercent: number;
}

/** US dollars per hour in which one accelerator works: idle hours cost as much, so the hours of work pay for them. */
export function ownedHourly(machine: OwnMachine): number {
  const { purchasePrice, years } = machine;
  return (purchasePrice / (years * 12 * HOURS_PER_MONTH) + runningHourly(machine)) / busyGpus(machine);
}

/**
 * The months after which the purchase costs less than renting the same accelerators for their hours of work; undefined if the machine is worn out by
 * then.
 * @param rentedHourly US dollars per hour for one accelerator
 */
export function breakEvenMonths(machine: OwnMachine, rentedHourly: number): number | undefined {
  const saved = (rentedHourly * busyGpus(machine) - runningHourly(machine)) * HOURS_PER_MONTH;
  const months = machine.purchasePrice / saved;
  return saved > 0 && months <= machine.years * 12 ? months : undefined;
}

/** Electricity and staff, per hour for the whole machine. */
function runningHourly({ watts, pue, electricityPerKwh, staffPerYear }: OwnMachine): number {
  return (watts / 1000) * pue * electricityPerKwh + staffPerYear / (12 * HOURS_PER_MONTH);
}

function busyGpus({ gpus, utilizationPercent }: OwnMachine): number {
  return (gpus * utilizationPercent) / 100;
}
