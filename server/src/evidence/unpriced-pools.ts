import { gpusNamed, otherCloudKey } from '../catalog/index.ts';
import type { NodePool } from '../model/node-pool.ts';
import { table, tableOf } from '../yaml/table.ts';
import { type Field, type Fields, fieldNamed, isFields } from './fields.ts';

/** Clouds without prices, by the first word of their resources in Terraform. */
const clouds = table<string>({
  alicloud: 'Alibaba Cloud',
  civo: 'Civo',
  digitalocean: 'DigitalOcean',
  exoscale: 'Exoscale',
  ibm: 'IBM Cloud',
  linode: 'Akamai',
  ovh: 'OVHcloud',
  scaleway: 'Scaleway',
  tencentcloud: 'Tencent Cloud',
  vultr: 'Vultr',
  yandex: 'Yandex Cloud',
});

/** The pool of a cloud without prices, if its machine or its name says that it has GPUs. @param block such as `scaleway_k8s_pool.gpu` */
export function unpricedPool(block: string, fields: Fields, name: string | null): NodePool | undefined {
  const cloud = clouds[block.split('_', 1)[0] ?? ''];
  if (cloud === undefined) return undefined;
  const text = (...keys: readonly string[]) => {
    const field = fieldNamed(fields, ...keys);
    return typeof field === 'string' ? field : null;
  };
  const called = text('name', 'label') ?? name;
  const [template] = [fields.get('instance_template')].flat();
  const platform = isFields(template) ? template.get('platform_id') : null;
  const machine = text(...machineFields) ?? (typeof platform === 'string' ? platform : null);
  const words = [called, machine].flatMap((one) => one?.split(/[-_.]/) ?? []);
  if (!words.some(isCard)) return undefined;
  const labels = tableOf(textsIn(fieldNamed(fields, 'labels', 'nodelabels')));
  const term = [...Object.entries(labels), [otherCloudKey, cloud] as const].map(([key, value]) => ({
    ...{ key, operator: 'In' as const, values: [value] },
  }));
  return { name: called, labels, taints: null, gpus: [], terms: [term], size: { min: null, max: null } };
}

const machineFields = ['size', 'nodetype', 'flavorname', 'flavor', 'plan', 'type', 'instancetype', 'machinetype'];

function isCard(word: string): boolean {
  return /^v?gpus?$/i.test(word) || (/\d/.test(word) && /[a-z]/i.test(word) && gpusNamed(word).length > 0);
}

function textsIn(field: Field | undefined): readonly (readonly [string, string])[] {
  if (!isFields(field)) return [];
  return [...field].flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
}
