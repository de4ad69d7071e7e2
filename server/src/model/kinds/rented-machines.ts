import { type GpuModel, gpus, instanceType } from '../../catalog/index.ts';
import { asText, type Cursor, isTemplated } from '../../yaml/cursor.ts';
import type { Placement } from '../workload.ts';

// What the tools that rent machines have in common.

/** A machine with accelerators that a file names. */
export interface NamedMachine {
  readonly name: string;
  readonly provider: string;
  readonly gpu: GpuModel;
  /** null: unknown, or a part of one. */
  readonly count: number | null;
  readonly at: Cursor;
}

/** The machine of the catalog that a field names; undefined for one without accelerators. */
export function machineAt(at: Cursor | undefined): NamedMachine | undefined {
  const machine = at === undefined || isTemplated(at) ? undefined : instanceType(asText(at) ?? '');
  const gpu = gpus.get(machine?.gpu ?? '');
  if (at === undefined || machine === undefined || gpu === undefined) return undefined;
  const count = machine.gpuCount ?? 0;
  return { name: machine.name, provider: machine.provider, gpu, count: count >= 1 ? count : null, at };
}

/** The placement on one type of machine. */
export function onMachine(instanceType: string): Partial<Placement> {
  return {
    instanceType,
    terms: [[{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [instanceType] }]],
  };
}

/**
 * The clouds with prices on which a tool rents machines.
 * https://docs.skypilot.co/en/latest/getting-started/installation.html, https://dstack.ai/docs/concepts/backends (2026-11-28)
 */
const clouds = {
  SkyPilot: ['aws', 'azure', 'coreweave', 'gcp', 'lambda', 'nebius', 'oci', 'runpod'],
  dstack: ['aws', 'azure', 'crusoe', 'gcp', 'lambda', 'nebius', 'oci', 'runpod'],
} as const;

/** Where a file runs that names no cloud. The config's cloud takes precedence. */
export function anyCloudOf(tool: keyof typeof clouds): Partial<Placement> {
  return { providers: clouds[tool], tool };
}
