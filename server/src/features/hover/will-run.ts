import { acceleratorResource } from '../../catalog/index.ts';
import { gpusOf } from '../../cost/estimate.ts';
import { formatCount, plural } from '../../cost/money.ts';
import { modelName } from '../../cost/requested-words.ts';
import type { RequestedResource } from '../../model/requested-resource.ts';
import type { PodSet, Workload } from '../../model/workload.ts';
import { nounOfDevices, partOfCard, partWords, perPodOf, requestedDevices } from './gpu-words.ts';

/** `Runs 1 master pod × 8 + 4 worker pods × 8 H100 80GB SXM = 40 GPUs`; undefined without a request for an accelerator. */
export function whatWillRun(workload: Workload): string | undefined {
  const used = workload.podSets.filter((podSet) => requestedDevices(podSet).length > 0);
  if (used.length === 0) return undefined;
  const names = used.map(deviceNames);
  const parts = used.map((podSet, index) => {
    // Name consecutive equal devices once, at the end.
    const device = names[index] === names[index + 1] ? '' : ` ${names[index]}`;
    return `${pods(podSet)}${workload.per === 'node' ? ' per node' : ''} × ${countWords(devicesOf(podSet), device)}`;
  });
  // Machines with a part of a card do not add up to cards.
  const whole = used.every((podSet) =>
    requestedDevices(podSet).every(
      (one) => one.form === 'whole' && partOfCard(podSet, { ...one, devices: one.perPod }).max === 1,
    ),
  );
  const total = gpusOf(workload);
  const sum =
    whole && total.min !== null && workload.per !== 'node'
      ? ` = ${plural(total, nounOfDevices(used.flatMap(requestedDevices)))}`
      : '';
  return `Runs ${parts.join(' + ')}${sum}`;
}

/** `1 master pod`, `4 worker pods`, `0–3 pods`. A user can name a set anything, also `gpu`. */
function pods({ name, pods: count }: PodSet): string {
  const role = /^(?:pods?)?$/i.test(name) ? '' : `${name.toLowerCase()} `;
  const number = formatCount(count);
  return `${number} ${role}${number === '1' ? 'pod' : 'pods'}`;
}

function devicesOf(podSet: PodSet): string {
  return requestedDevices(podSet)
    .map((accelerator) => formatCount(perPodOf(accelerator)))
    .join(' + ');
}

/** `8 L4`, `1/2 of L4`, `2 × 1/2 of L4`. */
function countWords(count: string, device: string): string {
  if (!/^ \d[\d/\u2013]* of /.test(device)) return `${count}${device}`;
  return count === '1' ? device.slice(1) : `${count} ×${device}`;
}

function deviceNames(podSet: PodSet): string {
  return requestedDevices(podSet)
    .map((accelerator) => {
      const { requested, form, model, perPod } = accelerator;
      if (form !== 'whole') return partName(requested);
      const name = model === null ? (perPod === 1 ? 'GPU' : 'GPUs') : modelName(model);
      return model === null ? name : partWords(partOfCard(podSet, accelerator), name);
    })
    .join(' + ');
}

function partName({ kind, name }: RequestedResource): string {
  const counted = kind === 'resource' ? acceleratorResource(name)?.form : 'memory';
  if (counted !== 'memory' && counted !== 'percent') return name;
  return kind === 'deviceClass' ? `${name} device` : 'shared GPU';
}
