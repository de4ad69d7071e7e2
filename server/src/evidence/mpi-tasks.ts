import { kindOf } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** Two tasks of a Volcano Job: the one that runs mpirun, and the one in whose pods mpirun starts the processes. */
export interface MpiTasks {
  readonly launcher: PodSet;
  readonly workers: PodSet;
  /** The hosts are a plain list on mpirun's command line: Open MPI counts one slot for each. */
  readonly slotPerHost: boolean;
}

/** The file in which Volcano lists the hosts of a task. */
const hostFile = /\/etc\/volcano\/([a-z\d][-a-z\d]*)\.host\b/g;

/**
 * The MPI tasks of a Volcano Job, by the host lists that the command of one task reads: only those of one other task. Undefined if it also starts
 * programs itself. https://github.com/volcano-sh/volcano/tree/master/docs/user-guide (svc and mpi plugins)
 */
export const mpiTasks = once((workload: Workload): MpiTasks | undefined => {
  if (!workload.apiVersion.startsWith('batch.volcano.sh/')) return undefined;
  const plugin = getIn(workload.manifest.root, 'spec', 'plugins', 'mpi');
  const option = (name: string) =>
    items(plugin)
      .map((item) => asText(item) ?? '')
      .find((text) => text.startsWith(`--${name}=`))
      ?.slice(name.length + 3) ?? name;
  for (const launcher of workload.podSets) {
    const text = launcher.containers.map(textOf).join('\n');
    if (!/\b(?:mpirun|mpiexec)\b/.test(text) || /^[ \t]*(?:python[\d.]*|torchrun)\s/m.test(text)) continue;
    const hosts = new Set([...text.matchAll(hostFile)].map(([, name]) => name));
    if (plugin !== undefined && option('master') === launcher.name && text.includes('MPI_HOST'))
      hosts.add(option('worker'));
    const [name, ...others] = hosts;
    const workers = workload.podSets.find((one) => one.name === name);
    if (workers === undefined || workers === launcher || others.length > 0) continue;
    const slotPerHost =
      /\s--?host[= ]\S*\$\{?\w*HOST/i.test(text) && /--allow-run-as-root/.test(text) && !/\b(?:sed|awk)\b/.test(text);
    return { launcher, workers, slotPerHost };
  }
  return undefined;
});

/** Whether the processes in the pods are started by another pod, so that their own command only waits. */
export function isDriven(podSet: PodSet, workload: Workload): boolean {
  return kindOf(workload).launcher?.driven === podSet.name || mpiTasks(workload)?.workers === podSet;
}

function textOf({ command, args }: Container): string {
  // A command that continues on the next line is one command.
  return [...command, ...args].map(({ value }) => value.replace(/\\\n\s*/g, ' ')).join(' ');
}
