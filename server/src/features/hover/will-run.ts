import { gpus } from '../../catalog/index.ts';
import { gpusOf } from '../../cost/estimate.ts';
import { formatCount, formatNumber, plural } from '../../cost/money.ts';
import type { RequestedResource } from '../../model/requested-resource.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { nounOfDevices, requestedDevices } from './gpu-words.ts';

/** `Runs 1 master × 8 + 4 workers × 8 H100 80GB SXM = 40 GPUs`; undefined without a request for an accelerator. */
export function whatWillRun(workload: Workload): string | undefined {
  const used = workload.podSets.filter((podSet) => requestedDevices(podSet).length > 0);
  if (used.length === 0) return undefined;
  const names = used.map(deviceNames);
  const parts = used.map((podSet, index) => {
    // Name consecutive equal devices once, at the end.
    const device = names[index] === names[index + 1] ? '' : ` ${names[index]}`;
    return `${pods(podSet)} × ${devicesOf(podSet)}${device}`;
  });
  const whole = used.every((podSet) => requestedDevices(podSet).every(({ form }) => form === 'whole'));
  const total = gpusOf(workload);
  const sum = whole && total.min !== null ? ` = ${plural(total, nounOfDevices(used.flatMap(requestedDevices)))}` : '';
  return `Runs ${parts.join(' + ')}${sum}`;
}

/** `1 master`, `4 workers`, `0–3 pods`. */
function pods({ name, pods: count }: PodSet): string {
  const role = name === '' ? 'pod' : name.toLowerCase();
  const number = formatCount(count);
  if (number === '1') return `1 ${role}`;
  return `${number} ${/(s|x|ch|sh)$/.test(role) ? role : `${role}s`}`;
}

function devicesOf(podSet: PodSet): string {
  return requestedDevices(podSet)
    .map(({ perPod }) => (perPod === null ? '?' : formatNumber(perPod)))
    .join(' + ');
}

function deviceNames(podSet: PodSet): string {
  return requestedDevices(podSet)
    .map(({ requested, form, model }) => {
      if (form !== 'whole') return partName(requested);
      return model === null ? 'GPU' : (gpus.get(model)?.name ?? model);
    })
    .join(' + ');
}

function partName({ kind, name }: RequestedResource): string {
  if (kind === 'resource') return name;
  return kind === 'deviceClass' ? `${name} device` : 'shared GPU';
}
