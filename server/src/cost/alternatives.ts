import type { Placement, PodAccelerator, PodSet } from '../model/workload.ts';

/** A request on one kind of machine, with a known number of devices. */
interface Alternative {
  readonly podSet: PodSet;
  readonly accelerator: PodAccelerator;
}

/** The alternatives of a request by machines, if some are the user's own, or by its devices; none if it has only one. */
export function alternativesOf(podSet: PodSet, accelerator: PodAccelerator): readonly Alternative[] {
  const { choices, either, ...placement } = podSet.placement;
  if (either !== undefined) {
    const { providers: _providers, tool: _tool, regions: _regions, ...common } = placement;
    return either.map(({ models, devices, where }) => ({
      podSet: { ...podSet, placement: { ...common, ...where } },
      accelerator: { ...withModels(accelerator, models), perPod: devices, devices },
    }));
  }
  if (choices !== undefined) return onMachines(choices, podSet, placement, accelerator);
  return accelerator.devices === null ? devicesOf(accelerator).map((one) => ({ podSet, accelerator: one })) : [];
}

/** Own machines with too few devices are excluded. */
function onMachines(
  { own, cloud }: NonNullable<Placement['choices']>,
  podSet: PodSet,
  placement: Placement,
  accelerator: PodAccelerator,
): readonly Alternative[] {
  const on = (there: Placement, models: readonly string[]) => ({
    podSet: { ...podSet, placement: there },
    accelerator: withModels(accelerator, models),
  });
  const large = own.filter(({ devices }) => (accelerator.devices ?? 0) <= (devices ?? Infinity));
  return [
    ...large.map((ownMachine) => {
      const there = { ...placement, terms: [], provider: null, instanceType: null, ownMachine };
      return on(there, ownMachine.gpu === null ? [] : [ownMachine.gpu]);
    }),
    ...(cloud === null ? [] : [on(cloud.placement, cloud.models)]),
  ];
}

function devicesOf({ between, choices, ...rest }: PodAccelerator): readonly PodAccelerator[] {
  const bounds = between === undefined ? [] : [between.min, between.max];
  return (choices ?? bounds.map((devices) => ({ models: [], devices }))).map(({ models, devices }) => ({
    ...withModels(rest, models.length > 0 ? models : rest.candidates),
    perPod: devices,
    devices,
  }));
}

function withModels(accelerator: PodAccelerator, candidates: readonly string[]): PodAccelerator {
  const [model = null, ...others] = candidates;
  return { ...accelerator, candidates, model: others.length === 0 ? model : null };
}
