import type { MpiProcesses } from './processes.ts';

/**
 * The slots of the hosts that Open MPI's mpirun or horovodrun gets as a list (`-H one:4,two:4`), and whether all of them are the pod itself;
 * undefined without a list in which each host has a number. MPICH names its list `-hosts` and starts more processes than it has slots.
 */
export function hostSlots({ line }: MpiProcesses): { readonly slots: number; readonly local: boolean } | undefined {
  const words = line.split(' ');
  const at = words.findIndex((word) => /^(?:-H|--hosts?)(?:=|$)/.test(word));
  const [flag, inline] = words[at]?.split('=', 2) ?? [];
  if (flag === undefined) return undefined;
  let slots = 0;
  let local = true;
  for (const host of (inline ?? words[at + 1] ?? '').split(',')) {
    const [name = '', count = ''] = host.split(':', 2);
    if (!/^\d{1,4}$/.test(count)) return undefined;
    slots += Number(count);
    local &&= name === 'localhost' || name === '127.0.0.1';
  }
  return { slots, local };
}
