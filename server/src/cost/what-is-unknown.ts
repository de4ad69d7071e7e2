import { type GpuModel, gpus, migByResource, offers, type PriceSheet, soldModels } from '../catalog/index.ts';
import { runsPerNode } from '../model/charts/apps.ts';
import { knownResource, resourceName } from '../model/requested-resource.ts';
import type { PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import { asText } from '../yaml/cursor.ts';
import type { NoEstimate, UnknownCount } from './no-estimate.ts';

/** Names the invalid value if there is one: an invalid count is not the same as a count that a template fills in. */
export function whatIsUnknown(podSet: PodSet, accelerator: PodAccelerator, sheet: PriceSheet): NoEstimate {
  const { requested, form, perPod, devices, candidates } = accelerator;
  const name = resourceName(requested);
  if (perPod === null) {
    const written = podSet.containers
      .flatMap(({ accelerators }) => accelerators.filter(({ resource, count }) => resource === name && count === null))
      .map(({ limit, request }) => limit ?? request)
      .find((quantity) => quantity !== undefined && !quantity.templated && !quantity.empty);
    if (written === undefined) return { kind: 'countUnknown', requested, set: templateIn(podSet, name) };
    return { kind: 'countInvalid', requested, text: written.text, tooLarge: (written.value ?? 0) >= 2 ** 31 };
  }
  const known = name !== undefined && migByResource(name).length > 0;
  const profile = /^nvidia\.com\/mig-(.+?)(\.shared)?$/.exec(name ?? '')?.[1];
  if (profile !== undefined && (candidates.length === 0 || !known))
    return { kind: 'noProfile', profile, selected: known };
  const { provider, instanceType, capacity } = podSet.placement;
  if (candidates.length > 0 && candidates.every((model) => offers({ gpu: model }, sheet).length === 0))
    return { kind: 'priceUnknown', models: candidates, devices: perPod, instanceType, provider };
  if (devices === null && candidates.length > 0 && form !== 'mig') return { kind: 'sharingUnknown' };
  if (capacity === 'reserved' || capacity === 'flex') return { kind: 'capacityNotPriced', capacity };
  return whichModel(accelerator, sheet);
}

/** Why nothing tells the model, most specific first. */
function whichModel({ requested, candidates, open }: PodAccelerator, sheet: PriceSheet): NoEstimate {
  if (open === undefined) {
    const isSelected = candidates.length === 0 && (knownResource(requested)?.vendor ?? null) !== null;
    return { kind: isSelected ? 'noMatch' : 'modelUnknown', requested };
  }
  const sold = soldGpus(sheet).filter(({ vendor }) => open.vendors.includes(vendor));
  if (sold.length === 0) return { kind: 'vendorNotPriced', requested };
  if (sold.every(({ id }) => open.devicesOn(id) === null)) return { kind: 'shareUnknown', requested };
  return { kind: 'modelUnknown', requested };
}

const soldBySheet = new WeakMap<PriceSheet, readonly GpuModel[]>();

/** The models with any price, even an undated one. Computed once for each sheet. */
function soldGpus(sheet: PriceSheet): readonly GpuModel[] {
  const known = soldBySheet.get(sheet);
  if (known !== undefined) return known;
  const ids = soldModels(sheet);
  const sold = [...gpus.values()].filter(({ id }) => ids.has(id));
  soldBySheet.set(sheet, sold);
  return sold;
}

/** What decides the number of pods, if the object does not. */
export function whoSetsPods({ kind, manifest, partial }: Workload, { replicas }: PodSet): UnknownCount {
  if (kind === 'DaemonSet' || runsPerNode(manifest.root)) return { by: 'nodes' };
  const text = replicas === undefined ? undefined : asText(replicas);
  if (text !== undefined && Number.isNaN(Number(text))) return { by: 'template', text };
  if (manifest.created === 'later') return { by: 'creator' };
  return { by: partial ? (ofSteps.test(manifest.apiVersion) ? 'run' : 'rest') : null };
}

/** Kinds whose steps wait for each other: which of them run at once is known only then. */
const ofSteps = /^(?:tekton\.dev|argoproj\.io)\//;

/** The template that decides the count of a resource. */
function templateIn({ containers }: PodSet, name: string | undefined): UnknownCount {
  const [written] = containers
    .flatMap(({ accelerators }) => accelerators.filter(({ resource }) => resource === name))
    .flatMap(({ limit, request }) => limit ?? request ?? []);
  return written?.templated === true ? { by: 'template', text: written.text } : { by: null };
}
